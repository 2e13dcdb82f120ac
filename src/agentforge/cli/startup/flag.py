"""Options and commands that click makes without a look at the library's `inspect` and at translations: see later.py.

Groups that do the usual thing when no command is named: `queue --json` is `queue list --json`.
"""

from __future__ import annotations

import os
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Flag(click.Option):
    """An option whose help is clean as it was written: click would clean it with `inspect`."""

    def __init__(self, *args: Any, help: str | None = None, **kwargs: Any) -> None:  # noqa: A002 - click's name for it
        super().__init__(*args, **kwargs)
        self.help = help


class Command(click.Command):
    """A command with the `--help` of all our commands: click would look for its text in other languages."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Give `--help`."""
        return help_flag(tuple(sorted(self.get_help_option_names(ctx), key=len)))


class Folder(click.ParamType[str]):
    """A folder; one that is not there is left to whoever looks into it. `click.Path` would look for translations."""

    name = "directory"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse a file, and a folder that cannot be read."""
        folder = Path(value)
        if folder.is_file():
            self.fail(f"Directory {value!r} is a file.", param, ctx)
        if folder.exists() and not os.access(value, os.R_OK):
            self.fail(f"Directory {value!r} is not readable.", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Let the shell complete folders."""
        from click.shell_completion import CompletionItem

        del ctx, param
        return [CompletionItem(incomplete, type="dir")]


option = partial(click.option, cls=Flag)
"""`click.option`, for commands that many starts go through."""


work_mode_option = option(
    "--mode",
    "work_mode",
    type=click.Choice(["build", "plan", "swarm"]),
    default=None,
    help="build works; plan reads and changes nothing; swarm gives each message to several reading subagents.",
)
"""How the interactive agent works, on a screen or for one prompt."""


@lru_cache(maxsize=4)
def help_flag(names: tuple[str, ...]) -> click.Option | None:
    """The option that prints the help page and ends the program; None without a name for it."""
    return _help_flag(names) if names else None


def _help_flag(names: tuple[str, ...]) -> click.Option:
    return Flag(
        [*names, "_shown_help"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        help="Show this message and exit.",
        callback=_show_help,
    )


def _show_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    del param
    if value and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class UsualGroup(click.Group):
    """A group with a command for those who name none.

    Args:
        usual: the name of that command.
    """

    def __init__(self, *arguments: Any, usual: str = "list", **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.usual = usual

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the usual command before options that stand alone; completion sees what was typed."""
        alone = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, [self.usual, *args] if alone and not ctx.resilient_parsing else args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say which command is the usual one."""
        super().format_help_text(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"Without a command: {self.usual}, with its options.")
