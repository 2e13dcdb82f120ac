"""Every command line of the documentation names a command of the program and options that it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest

from agentforge.cli.startup.lazy import agentforge

_BLOCK = re.compile(r"^(?:\s{4,}|\s*\$ )?(?:[A-Z_]+=\S+ )*agentforge (.*)$")
_INLINE = re.compile(r"`agentforge ([^`]+)`")
_OPTION = re.compile(r"--?[a-zA-Z]")
_FORMS = {"X", "COMMAND", "GROUP"}
"""What stands for any command."""


def _lines(page: Path) -> Iterator[str]:
    fenced = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith("```"):
            fenced = not fenced
        elif (found := _BLOCK.match(line)) and (fenced or line.startswith(("    ", "$"))):
            yield found.group(1)
        else:
            yield from _INLINE.findall(line)


def _words(line: str) -> list[str]:
    """The words of a command up to what the shell does with it."""
    lexer = shlex.shlex(line.replace("...", "X"), posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split = True
    return list(takewhile(lambda word: word[0:1] not in set("|;&<>"), lexer))


def _wrong(words: list[str]) -> str:
    command: click.Command = agentforge
    context, left = click.Context(command, info_name="agentforge", **command.context_settings), list(words)
    while isinstance(command, click.Group) and left and not left[0].startswith("-"):
        below = command.get_command(context, left[0])
        if below is None:
            said = " " in left[0]  # a sentence is the first message of a conversation
            known = command is not agentforge or left[0] in _FORMS or left[0].isupper() or said
            return "" if known else f"no command {left[0]}"
        context, command = click.Context(below, info_name=left.pop(0), parent=context), below
    known_options = {name for one in command.get_params(context) for name in (*one.opts, *one.secondary_opts)}
    given = [word.partition("=")[0] for word in takewhile(lambda word: word != "--", left) if _OPTION.match(word)]
    missing = [one for one in given if one not in known_options and one[:2] not in known_options]
    return f"no option {', '.join(missing)}" if missing else ""


def test_every_command_of_the_documentation_is_one_of_the_program(root: Path) -> None:
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    lines = [(page, line) for page in pages for line in _lines(page)]
    assert len(lines) > 400, "the pattern no longer finds them"
    told = [
        f"{page.relative_to(root)}: agentforge {line}: {wrong}"
        for page, line in lines
        if (wrong := _wrong(_words(line)))
    ]
    assert told == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("stat TASK", "no command stat"),
        ("start 'x' --models a", "no option --models"),
        ("policy test 'a; b' | less --no", ""),
        ("run -- --any", ""),
    ],
)
def test_the_look_sees_what_is_wrong(line: str, wrong: str) -> None:
    assert _wrong(_words(line)) == wrong
