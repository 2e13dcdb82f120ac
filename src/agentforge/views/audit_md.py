"""A document as Markdown: every text is escaped, so that nothing in it is read as Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import cast

from agentforge.views.audit_blocks import AuditText, Block, Facts, Heading, Plot, Quote, Table

_SPECIAL = re.compile(r"([\\`*_\[\]#|~>$]|(?<=\])\()")
_BEGINNING = re.compile(r"^(\s*)([-+=])|^(\s*[0-9]+)([.)])(?=\s|$)", re.MULTILINE)
_BAR = 40


def markdown_of(blocks: Sequence[Block]) -> str:
    """Render a document."""
    return "\n\n".join(_RENDER[type(block)](block) for block in blocks) + "\n"


def _plain(text: str) -> str:
    """Text that means itself; `&` and `<` as entities, what Markdown reads with a backslash."""
    escaped = _SPECIAL.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;")).replace("http", "http&#8203;")
    return _BEGINNING.sub(lambda found: f"{found[1] or found[3] or ''}\\{found[2] or found[4]}", escaped)


def _heading(block: Heading) -> str:
    return f"{'#' * block.level} {_line(block.text)}"


def _line(text: str) -> str:
    return _plain(" ".join(text.split()))


def _text(block: AuditText) -> str:
    mark = "**" if block.tone in ("good", "bad") else ""
    return f"{mark}{_line(block.text)}{mark}"


def _quote(block: Quote) -> str:
    return "\n".join(f"> {_plain(line)}  " for line in block.text.splitlines())


def _facts(block: Facts) -> str:
    return "\n".join(f"- {_line(label)}: {_cell(value, code=block.code)}" for label, value in block.rows)


def _table(block: Table) -> str:
    head = "| " + " | ".join(_line(column.title) for column in block.columns) + " |"
    rule = "|" + "|".join("---:" if column.kind == "number" else "---" for column in block.columns) + "|"
    rows = (
        "| "
        + " | ".join(_cell(cell, code=column.kind == "code") for column, cell in zip(block.columns, row, strict=True))
        + " |"
        for row in block.rows
    )
    return "\n".join([head, rule, *rows])


def _cell(text: str, *, code: bool) -> str:
    """A cell of one line; a code span only where the text can stand in one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fits = code and not any(mark in text for mark in "`|<>&")
    return "<br>".join(f"`{line}`" if fits else _plain(line) for line in lines)


def _plot(block: Plot) -> str:
    """The plot as bars of text."""
    highest = max((bar.value for bar in block.bars), default=1) or 1
    rows = [
        f"{bar.label:>5} {bar.group[:10]:<10} {'#' * round(_BAR * bar.value / highest):<{_BAR}} {bar.value:>8} "
        f"{bar.total:>12g}"
        for bar in block.bars
    ]
    fence = "`" * 3
    return "\n".join([_line(block.title) + ":", "", fence, *(row.replace("`", "'") for row in rows), fence])


_RENDER = cast(
    "dict[type[Block], Callable[[Block], str]]",
    {Heading: _heading, AuditText: _text, Quote: _quote, Facts: _facts, Table: _table, Plot: _plot},
)
