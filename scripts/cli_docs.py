"""Write docs/cli.md from the help texts of the commands: `python scripts/cli_docs.py` (part of `make golden`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from agentforge.cli.startup.lazy import agentforge

TARGET = Path(__file__).parents[1] / "docs" / "cli.md"
_WIDTH = 100
_HEAD = """# The command line

Generated from the help texts by `make golden`; a test compares it. Exit codes: 0 done, 1 internal error, 2 usage or
configuration, 3 waits for a human, 4 verification failed, 5 model, 6 limit, 7 sandbox or tools, 8 locked or conflict,
9 integrity, 130 interrupted.
"""


def document() -> str:
    """Return the whole page."""
    return _HEAD + "".join(
        f"\n## {path}\n\n```text\n{text}\n```\n" for path, text in _helps(agentforge, "agentforge", None)
    )


def _helps(command: click.Command, path: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    context = click.Context(
        command, info_name=path.rpartition(" ")[2], parent=parent, terminal_width=_WIDTH, **command.context_settings
    )
    yield path, "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _helps(inner, f"{path} {name}", context)


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
