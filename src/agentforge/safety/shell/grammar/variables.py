"""What is known of the variables that a line sets itself, and which of them data may fill."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agentforge.safety.shell.grammar.flow import is_one_path
from agentforge.safety.shell.grammar.syntax import ShellCommand, Word, names

if TYPE_CHECKING:
    from ast_grep_py import SgNode

EVERY = "*"
"""Among the names that data may fill: any name at all, because code of the line is not known."""

_BY_BASH = frozenset(
    names(
        "_ FUNCNAME GROUPS DIRSTACK LINENO RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME HISTCMD PIPESTATUS UID EUID PPID "
        "PWD OLDPWD OPTIND OPTARG REPLY SHLVL SHELLOPTS IFS"
    )
)
"""Variables that bash itself sets or clears."""

_RUNS_HERE = names("eval source . trap coproc enable")
_FILLS = names("read mapfile readarray getopts let wait printf unset")
_THROUGH = re.compile(r"(?:head|tail|sort)(?: -n ?\d+| -\d+| -n| -r)*")
_COUNT = re.compile(r"wc -[lcwm]|nproc|grep -[cEFiwvxP]*c[cEFiwvxP]* PATTERN(?: [\w./-]+)?|seq(?: \d+){1,3}")
_NUMBERED = re.compile(r"grep -[nEFiwvxP]*n[nEFiwvxP]* PATTERN(?: [\w./-]+)?")
_FIRST_FIELD = re.compile(r"cut -d(?: ?':'| ?:) ?-f ?1")


def set_in(root: SgNode) -> dict[str, list[SgNode | None]]:
    """The values that a line gives to its variables, by name; None where the value is not written there."""
    found: dict[str, list[SgNode | None]] = {}
    for node in _nodes(root):
        kind = str(node.kind())
        children = node.children()
        names_in = [child.text() for child in children if child.kind() == "variable_name"]
        if kind == "variable_assignment" and names_in:
            plain = len(children) == 3 and children[1].text() == "="
            found.setdefault(names_in[0], []).append(children[2] if plain else None)
        elif kind == "for_statement" and names_in:
            items = [
                child for child in children if child.is_named() and child.kind() not in ("variable_name", "do_group")
            ]
            found.setdefault(names_in[0], []).extend([*items, *([] if items else [None])])
        elif kind in ("unset_command", "declaration_command"):
            for name in names_in:
                found.setdefault(name, []).append(None)
    return found


def filled(commands: Sequence[ShellCommand]) -> set[str]:
    """The names that commands of the line fill with data, such as those of `read`; `EVERY` where code that is not known runs."""
    found: set[str] = set()
    for command in commands:
        words = list(command.words)
        while words and words[0].value in ("command", "builtin", "time"):
            words.pop(0)
        name = words[0].value if words else ""
        if name is None or name in _RUNS_HERE:
            found.add(EVERY)
        elif name in _FILLS:
            found |= {EVERY if word.value is None else word.value.partition("[")[0] for word in words[1:]}
    return found


def known_words(
    values: Mapping[str, Sequence[SgNode | None]], by_data: set[str], read: Callable[[SgNode], Word]
) -> dict[str, Word]:
    """What a variable's use stands for, wherever it has been set before: the text that it is set to once, or a whole number.

    Args:
        by_data: names that something else fills.
        read: reads the word of a value.
    """
    if EVERY in by_data:
        return {}
    known = {}
    for name, nodes in values.items():
        written = [node for node in nodes if node is not None]
        if name in by_data or name in _BY_BASH or len(written) < len(nodes):
            continue
        words = [read(node) for node in written]
        if len(words) == 1 and is_one_path(words[0]):
            known[name] = words[0]
        elif all(word.is_number for word in words):
            known[name] = Word(text="...", pieces=(None,), whole=True, splits=any(word.splits for word in words))
    return known


def computed_in(text: str) -> set[str]:
    """The names whose values bash computes with in an arithmetic text."""
    return set(re.findall(r"\$\{?\d|\b[A-Za-z_]\w*", text))


def doubtful(
    computed: set[str],
    values: Mapping[str, Sequence[SgNode | None]],
    known: Mapping[str, Word],
    by_data: set[str],
    *,
    inner: bool,
) -> str:
    """A name that is computed with though its value may hold code, which bash would run; "" where there is none.

    Args:
        inner: the line is run by another one, whose variables it may have.
    """
    asked = sorted(name for name in computed if name not in known or not known[name].is_number)
    return next((name for name in asked if inner or name[0] == "$" or name in values or {name, EVERY} & by_data), "")


def counts(substitution: SgNode) -> bool:
    """Whether a command substitution prints nothing but whole numbers: `$(wc -l < f)`, `$(grep -n x f | cut -d: -f1)`."""
    inside = [child for child in substitution.children() if child.is_named()]
    if len(inside) != 1:
        return False
    commands = [_shape(node) for node in _piped(inside[0])]
    while len(commands) > 1 and _THROUGH.fullmatch(commands[-1]):
        commands.pop()
    if _COUNT.fullmatch(commands[-1]):
        return True
    if len(commands) < 2 or not _FIRST_FIELD.fullmatch(commands.pop()):
        return False
    while len(commands) > 1 and _THROUGH.fullmatch(commands[-1]):
        commands.pop()
    return _NUMBERED.fullmatch(commands[-1]) is not None


def _piped(node: SgNode) -> Iterator[SgNode]:
    if node.kind() == "pipeline":
        for child in node.children():
            if child.is_named():
                yield from _piped(child)
    else:
        yield node


def _shape(node: SgNode) -> str:
    """A simple command with the word PATTERN for its first operand in quotes or letters; "" for anything else."""
    if node.kind() == "redirected_statement":
        body, *redirects = [child for child in node.children() if child.is_named()]
        plain = all(re.fullmatch(r"<\s*[\w./-]+", one.text()) for one in redirects)
        return _shape(body) if plain else ""
    if node.kind() != "command":
        return ""
    words = [child.text() for child in node.children()]
    if words[0] != "grep":
        return " ".join(words)
    place = next((at for at, word in enumerate(words[1:], start=1) if not word.startswith("-")), 0)
    quoted = re.fullmatch(r"'[^'-][^']*'|\"[^\"$`\\-][^\"$`]*\"|[\w.]+", words[place])
    return " ".join([*words[:place], "PATTERN", *words[place + 1 :]]) if place and quoted else ""


def _nodes(node: SgNode) -> Iterator[SgNode]:
    yield node
    for child in node.children():
        yield from _nodes(child)
