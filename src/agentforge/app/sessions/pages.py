"""Long lists in pages: `--page N --limit N`, as every list of the slash commands takes them."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.app.slash.command import SlashReply
from agentforge.errors import UsageError

PAGE_ROWS = 20


def page_of(rest: str) -> tuple[int, int]:
    """Read `--page N --limit N`.

    Returns:
        Page (from 1) and rows a page.
    Raises:
        UsageError: something else is written there.
    """
    words = rest.replace("=", " ").split()
    values = {"--page": 1, "--limit": PAGE_ROWS}
    for name, value in zip(words[::2], [*words[1::2], ""], strict=False):
        if name not in values or not value.isdigit() or not int(value):
            raise UsageError(f"{rest!r} is not understood", hint="--page N --limit N")
        values[name] = int(value)
    return values["--page"], values["--limit"]


def paged(lines: Sequence[str], rest: str, *, head: str, none: str) -> SlashReply:
    """Show one page of a table, and how to see the next.

    Raises:
        UsageError: there is no such page.
    """

    page, limit = page_of(rest)
    if not lines:
        return SlashReply(text=none)
    pages = -(-len(lines) // limit)
    if page > pages:
        raise UsageError(f"there is no page {page}", hint=f"there are {pages}")
    shown = lines[(page - 1) * limit : page * limit]
    more = f"\n\nPage {page} of {pages}; `--page {page + 1}` shows more." if page < pages else ""
    return SlashReply(text="\n".join([head, *shown]) + more)
