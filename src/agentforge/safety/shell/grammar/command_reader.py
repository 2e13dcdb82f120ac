"""From a bash line to its commands, by the tree-sitter grammar of bash.

A whitelist: only node kinds that are named here are understood, every other one makes its piece opaque. What the grammar and
bash are known to read differently (control characters, here documents, words that it left out) is opaque too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from agentforge.safety.shell.grammar.assignments import Assignments, ends_simply, goes_on
from agentforge.safety.shell.grammar.doubts import covers, ends_plainly, glues, has_error, why_unreadable
from agentforge.safety.shell.grammar.find import fed_by
from agentforge.safety.shell.grammar.flow import folders_after, looped
from agentforge.safety.shell.grammar.syntax import Assignment, Opaque, Redirect, Script, ShellCommand, Word
from agentforge.safety.shell.grammar.variables import EVERY, computed_in, doubtful, filled, known_words, set_in
from agentforge.safety.shell.grammar.words import WORD_KINDS

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    Folders = tuple[str | None, ...]


_LAST = 0xFF
_STANDING_IN = tuple(chr(code) for code in range(0xA1, _LAST + 1) if chr(code) not in "\xa0\xad")
_REDIRECTS = r"(?:[ \t]+\d?>>?[ \t]*(?:&\d|[\w./-]+))*"
_MISREAD = (re.compile(rf"(?<=[ \t])-(?={_REDIRECTS}[ \t]*<<)"), re.compile(r"(?<=[ \t])==(?=[ \t]*(?:[;&|)\n]|$))"))
_ERRORS_BEHIND = re.compile(r"(<<-?[ \t]*(['\"]?)\w+\2)((?:[ \t]+2>(?:&1|[ \t]*/dev/null))+)(?=[ \t]*\|)")


def narrowed(line: str) -> tuple[str, Mapping[int, str]] | None:
    """The line in signs that the grammar reads as bash does, and the way back; None when it holds too many different ones.

    `<<E 2>&1 |` becomes `2>&1 <<E |`, which means the same.
    """
    line = _ERRORS_BEHIND.sub(lambda found: f"{found[3].lstrip()} {found[1]}", line)
    foreign = sorted({sign for sign in line if ord(sign) > _LAST})
    misread = sorted({found[0][0] for pattern in _MISREAD for found in pattern.finditer(line)})
    free = [sign for sign in _STANDING_IN if sign not in line]
    if len(foreign) + len(misread) > len(free):
        return None
    there = dict(zip((*foreign, *misread), free, strict=False))
    for pattern in _MISREAD:
        line = pattern.sub(lambda found: "".join(there[sign] for sign in found[0]), line)
    line = line.translate({ord(sign): there[sign] for sign in foreign})
    return line, {ord(other): sign for sign, other in there.items()}


def restored(value: Any, back: Mapping[int, str]) -> Any:  # Any: whatever a script consists of
    """What was read of a narrowed line, with its own signs again, however deep they stand."""
    if isinstance(value, str):
        return value.translate(back)
    if isinstance(value, tuple):
        return tuple(restored(one, back) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: restored(getattr(value, one.name), back) for one in fields(value)})
    return value


MOST_COMMANDS = 50
"""More than this many commands in one line are nobody's everyday work; the line is opaque."""

_SEQUENCES = frozenset({"program", "list", "compound_statement", "do_group", "else_clause", "elif_clause", "case_item"})
_BRANCHES = frozenset({"if_statement", "case_statement", "redirected_statement", "negated_command"})
_TEST = re.compile(r"\[\s.*\s\]|\[\[\s.*\s\]\]", re.DOTALL)
_HEREDOC_LIVE = re.compile(r"`|\$[({\[]")
_COUNTING = re.compile(r"[\w\s=<>+;,*/%-]*")
_NUMERIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def read_line(line: str, *, inner: bool = False) -> Script:
    """Read a bash line; never raises, whatever the text is.

    Args:
        inner: another line runs this one, so that it may have variables of that one.
    Returns:
        every command that bash could run for it, those inside substitutions too; an empty `opaque` means that all of it was
        understood.
    """
    reason = why_unreadable(line)
    if reason is not None:
        return Script(commands=(), opaque=(Opaque(text=line[:200], reason=reason),))
    found = narrowed(line)
    if found is None:
        return Script(commands=(), opaque=(Opaque(text=line[:200], reason="holds too many different foreign letters"),))
    script = _read(found[0], inner=inner)
    return cast("Script", restored(script, found[1])) if found[1] else script


def _read(line: str, *, inner: bool) -> Script:
    from ast_grep_py import SgRoot

    root = SgRoot(line, "bash").root()
    reader = _Reader(line)
    reader.statement(root, ("",))
    values, by_data = set_in(root), filled(reader.commands)
    known = known_words(values, by_data, _Reader(line).word) if values else {}
    if known or by_data:
        reader = _Reader(line, known, by_data)
        reader.statement(root, ("",))
    name = doubtful(reader.computed, values, known, by_data, inner=inner)
    if name:
        reader.refuse(
            root, f"bash computes with {name}, whose value may be code: compute with numbers of the line only"
        )
    if has_error(root):
        reader.refuse(root, "the grammar does not know a part of it")
    if glues(root, line):
        reader.refuse(root, "a word goes on in the next line")
    if not covers(root, line):
        reader.refuse(root, "the grammar left a part of it out")
    if len(reader.commands) > MOST_COMMANDS:
        reader.refuse(root, f"runs more than {MOST_COMMANDS} commands")
    return Script(commands=tuple(reader.commands), opaque=tuple(reader.opaque))


class _Reader(Assignments):
    """Walks the tree once and collects what it finds."""

    def statement(self, node: SgNode, folders: Folders) -> Folders:
        """Read one statement; returns the folders in which the next one may run."""
        outer, self.here = self.here, folders
        after = self._statement(node, folders)
        self.here = outer
        return after

    def _statement(self, node: SgNode, folders: Folders) -> Folders:
        kind = str(node.kind())
        if kind == "command":
            return self._command(node, folders)
        if kind in _SEQUENCES:
            return self.sequence(node, folders)
        if kind == "subshell":
            self.sequence(node, folders)
            return folders
        if kind == "pipeline":
            self._pipeline(node, folders)
            return folders
        if kind == "while_statement":
            return self._repeated(folders, lambda: self._branches(node, folders))
        if kind in _BRANCHES:
            return self._branches(node, folders)
        if kind in ("for_statement", "c_style_for_statement"):
            return self._repeated(folders, lambda: self._loop(node, folders))
        if kind == "test_command":
            if _TEST.fullmatch(node.text()) is None:
                self.refuse(node, "is no whole condition")
            self._words_inside(node, double=node.text().startswith("[["))
            return folders
        if kind in ("variable_assignment", "variable_assignments", "declaration_command", "unset_command"):
            self.declaration(node, folders)
            return folders
        if kind == "comment":
            self._comment(node)
        else:
            self.refuse(node, "is not a plain command, list, pipeline, loop or condition")
        return folders

    def _pipeline(self, node: SgNode, folders: Folders) -> None:
        for child in node.children():
            if not child.is_named():
                continue
            first = len(self.commands)
            self.statement(child, folders)
            mine = self.commands[first:]
            if len(mine) == 1 and first and mine[0].words[:1] and child.kind() == "command":
                name = mine[0].words[0]
                fed = fed_by(self.commands[first - 1].words) if name.value == "xargs" else ""
                self.commands[first] = replace(mine[0], words=(replace(name, fed=fed), *mine[0].words[1:]))

    def _comment(self, node: SgNode) -> None:
        """bash begins a comment only where a word may begin; elsewhere # is part of the word."""
        start = node.range().start.index
        if self.line[start : start + 1] != "#" or (start and not self.line[start - 1].isspace()):
            self.refuse(node, "is no comment")

    def _repeated(self, folders: Folders, read: Callable[[], Folders]) -> Folders:
        """Read a loop: where a round ends in another folder than it began in, nobody knows where the next one runs."""
        first = len(self.commands)
        after = read()
        if set(after) <= set(folders):
            return after
        for place in range(first, len(self.commands)):
            command = self.commands[place]
            self.commands[place] = replace(command, folders=tuple(dict.fromkeys((*command.folders, None))))
        return tuple(dict.fromkeys((*after, None)))

    def sequence(self, node: SgNode, folders: Folders) -> Folders:
        """Read the statements inside a node one after the other; returns the folders in which the next one may run."""
        if any(child.text() == "((" for child in node.children()):
            self.refuse(node, "arithmetic may run code inside a subscript")
            return folders
        if node.kind() == "compound_statement" and not any(child.is_named() for child in node.children()):
            self.refuse(node, "is no group of commands")
        now, before, entry, outer = folders, folders, set(self.bound), (self.certain, self.either)
        is_list, held = node.kind() == "list", entry
        if not goes_on(node):
            self.certain, self.either = set(entry), False
        for child in node.children():
            if not child.is_named():
                if child.text() in ("&", "||"):
                    self.forget(self.certain if is_list else held)
                    self.either |= is_list
                if child.text() not in ("&&", "do", "done", "then", "{", "else", "elif"):
                    now = tuple(dict.fromkeys((*before, *now)))
                continue
            if str(child.kind()) in WORD_KINDS:  # the pattern of a case
                self.word(child)
                continue
            before, held = now, set(self.bound)
            now = self.statement(child, now)
            self.bind(child)
        if not goes_on(node):
            if node.kind() != "program":
                self.forget(self.certain if is_list else entry)
            self.certain, self.either = outer
        return now if is_list else tuple(dict.fromkeys((*folders, *now)))

    def _branches(self, node: SgNode, folders: Folders) -> Folders:
        now, first = folders, len(self.commands)
        for child in node.children():
            if not child.is_named():
                continue
            kind = str(child.kind())
            if kind == "heredoc_redirect" and len(self.commands) > first and ends_simply(node.children()[0]):
                self.commands[-1] = replace(self.commands[-1], inline=True)
            if kind in WORD_KINDS:
                self.word(child)
            elif kind in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                inside = [folder for command in self.commands[first:] for folder in command.folders]
                self._redirect_alone(child, tuple(dict.fromkeys((*folders, *inside, *now))))
            else:
                now = tuple(dict.fromkeys((*now, *self.statement(child, now))))
        return now

    def _loop(self, node: SgNode, folders: Folders) -> Folders:
        if node.kind() == "c_style_for_statement":
            return self._counted(node, folders)
        if any(child.text() == "select" for child in node.children() if not child.is_named()):
            self.refuse(node, "select asks at a terminal")
        now, name, items = folders, "", list[Word]()
        for child in node.children():
            kind = str(child.kind())
            if kind == "variable_name":
                name = child.text()
                if not re.fullmatch(r"[a-z]+", name):
                    assigned = Assignment(name=name, text=f"for {name}")
                    self.commands.append(ShellCommand(text=f"for {name}", assignments=(assigned,), folders=folders))
            elif kind == "do_group":
                item = None if {name, EVERY} & set(self.by_data) else looped(items)
                self.bound.pop(name, None)
                self.bound |= {name: item} if item is not None else {}
                now = self.statement(child, folders)
                self.bound.pop(name, None)
            elif child.is_named():
                items.append(self.word(child))
        return tuple(dict.fromkeys((*folders, *now)))

    def _counted(self, node: SgNode, folders: Folders) -> Folders:
        """`for ((i=0; i<3; i++))`: nothing but numbers is computed."""
        now = folders
        head = node.text().partition("((")[2].partition("))")[0]
        if not _COUNTING.fullmatch(head):
            self.refuse(node, "arithmetic may run code inside a subscript")
        self.computed |= computed_in(head)
        for child in node.children():
            if child.kind() in ("do_group", "compound_statement"):
                now = self.statement(child, folders)
        return tuple(dict.fromkeys((*folders, *now)))

    def _command(self, node: SgNode, folders: Folders) -> Folders:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        for child in node.children():
            kind = str(child.kind())
            if kind == "command_name":
                words.append(self._name(child))
            elif kind == "variable_assignment":
                assignments.append(self.assignment(child))
            elif kind in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                redirects += self._redirects(child)
            elif child.text() == "==":
                words.append(Word(text="==", pieces=("==",)))
            elif not child.is_named():
                self.refuse(node, f"has {child.text()!r} where a word was expected")
            else:
                words.append(self.word(child))
        command = ShellCommand(
            text=node.text(),
            words=tuple(words),
            assignments=tuple(assignments),
            redirects=tuple(redirects),
            folders=folders,
        )
        self.commands.append(command)
        return folders_after(command, folders)

    def _name(self, node: SgNode) -> Word:
        inner = node.children()
        if len(inner) != 1 or not node.text():
            self.refuse(node, "has no name")
            return Word(text=node.text(), pieces=(None,))
        return self.word(inner[0])

    def _redirect_alone(self, node: SgNode, folders: Folders) -> None:
        outer, self.here = self.here, folders
        redirects = tuple(self._redirects(node))
        self.here = outer
        if redirects:
            self.commands.append(ShellCommand(text=node.text(), redirects=redirects, folders=folders))

    def _redirects(self, node: SgNode) -> list[Redirect]:
        if node.kind() == "heredoc_redirect":
            return self._heredoc(node)
        operator, found = "", []
        for child in node.children():
            kind = str(child.kind())
            if kind == "file_descriptor":
                continue
            if not child.is_named():
                operator = child.text()
                continue
            word = self.word(child)
            duplicate = operator in (">&", "<&") and (word.value or "").rstrip("-").isdigit()
            if node.kind() == "file_redirect" and not duplicate:
                found.append(Redirect(operator=operator, target=word))
        return found

    def _heredoc(self, node: SgNode) -> list[Redirect]:
        found = []
        quoted = any(
            mark in child.text() for child in node.children() if child.kind() == "heredoc_start" for mark in "'\"\\"
        )
        if not ends_plainly(node):
            self.refuse(node, "the here document has no plain end")
        for child in node.children():
            kind = str(child.kind())
            if kind == "heredoc_body":
                if not quoted and _HEREDOC_LIVE.search(self.line):
                    self.refuse(node, "the here document may run code")
            elif kind in ("file_redirect", "herestring_redirect"):
                found += self._redirects(child)
            elif kind == "pipeline":
                self._pipeline(child, self.here)
            elif kind not in ("heredoc_start", "heredoc_end") and child.is_named():
                self.refuse(node, "something follows the here document's name")
        return found

    def _words_inside(self, node: SgNode, *, double: bool) -> None:
        """Read the words of [ ... ] and [[ ... ]] for what runs inside them; the latter computes the numbers that it compares."""
        for child in node.children():
            if child.text() == "-v" or (double and child.text() in _NUMERIC and "$" in node.text()):
                self.refuse(node, "a comparison of numbers may run code inside a subscript")
            if not child.is_named():
                if not double and child.text().strip("[]!=") not in ("", "-a", "-o"):
                    self.refuse(node, f"{child.text()} inside [ ... ] is not a comparison")
                continue
            if str(child.kind()) in WORD_KINDS:
                if self.word(child).splits and not double:
                    self.refuse(node, f"{child.text()} without quotes may become an operator that runs code")
            elif child.kind() not in ("test_operator", "regex"):
                self._words_inside(child, double=double)
