"""Write docs/agentforge.1, the manual page, from the help texts: `python scripts/man_page.py` (part of `make golden`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from agentforge import __version__
from agentforge.cli.startup.lazy import agentforge

TARGET = Path(__file__).parents[1] / "docs" / "agentforge.1"
_EXITS = (
    (0, "done"),
    (1, "internal error"),
    (2, "usage or configuration"),
    (3, "waits for a human"),
    (4, "verification failed"),
    (5, "model or provider"),
    (6, "limit or deadline"),
    (7, "sandbox, tools or forge"),
    (8, "locked or conflict"),
    (9, "integrity"),
    (130, "interrupted"),
)
_FILES = (
    ("<repository>/.agentforge/tasks/ID", "a task: its log events.jsonl, which is the truth, and views of it"),
    ("<repository>/.agentforge/config.toml", "settings of the project"),
    ("~/.config/agentforge/config.toml", "settings of the user; see agentforge config path"),
)


def document() -> str:
    """Return the whole page in roff."""
    context = _context(agentforge, "agentforge", None)
    parts = [
        f'.TH AGENTFORGE 1 "" "agentforge {__version__}" "User Commands"',
        ".SH NAME",
        f"agentforge \\- {_plain(agentforge.get_short_help_str(200))}",
        ".SH SYNOPSIS",
        f".B agentforge\n{_plain(' '.join(agentforge.collect_usage_pieces(context)))}",
        ".SH DESCRIPTION",
        *_described(agentforge),
        ".SH OPTIONS",
        *_options(agentforge, context),
        ".SH COMMANDS",
        *(line for name in agentforge.list_commands(context) for line in _command(name, context)),
        ".SH EXIT STATUS",
        *(line for code, text in _EXITS for line in _row(str(code), text)),
        ".SH FILES",
        *(line for place, text in _FILES for line in _row(place, text)),
        ".SH SEE ALSO",
        ".BR git (1),\n.BR bwrap (1)",
    ]
    return "\n".join(parts) + "\n"


def _command(name: str, parent: click.Context, *, above: str = "") -> Iterator[str]:
    """One command with its options and examples, then its own commands."""
    assert isinstance(parent.command, click.Group)
    command = parent.command.get_command(parent, name)
    assert command is not None
    context = _context(command, name, parent)
    path = f"{above}{name}"
    yield f".SS agentforge {_plain(path)} {_plain(' '.join(command.collect_usage_pieces(context)))}".rstrip()
    yield from _described(command)
    yield from _options(command, context)
    if command.epilog:
        yield from _literal(command.epilog)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from _command(inner, context, above=f"{path} ")


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _described(command: click.Command) -> Iterator[str]:
    for number, paragraph in enumerate((command.help or "").split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):
            yield from _literal(paragraph)
        else:
            yield _plain(" ".join(paragraph.split()))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is not None:
            yield from _row(*record)


def _row(term: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield f"\\fB{_plain(term)}\\fR"
    yield _plain(text)


def _literal(text: str) -> Iterator[str]:
    lines = [line for line in text.replace("\b", "").splitlines() if line.strip()]
    yield ".PP\n.nf"
    yield from (_plain(line, squeeze=False) for line in lines)
    yield ".fi"


def _plain(text: str, *, squeeze: bool = True) -> str:
    """Text that roff takes literally."""
    if squeeze:
        text = re.sub(r"\s+", " ", text).strip()
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{text}" if text.startswith((".", "\\(aq")) else text


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
