"""Options and commands that click makes without a look at the library's `inspect` and at translations: see later.py."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import click


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


option = partial(click.option, cls=Flag)
"""`click.option`, for commands that many starts go through."""


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
