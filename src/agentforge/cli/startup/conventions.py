"""Groups that do the usual thing when no command is named: `queue --json` is `queue list --json`."""

from __future__ import annotations

from typing import Any

import click


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
