"""A document as one HTML file: no script, nothing from elsewhere, printable, dark and light. Every text is escaped here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import cast

from agentforge.views.audit_blocks import AuditText, Block, Facts, Heading, Plot, Quote, Table
from agentforge.views.audit_plot import plot_svg

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6570; --line: #d5dae0; --ground: #fff; --band: #f5f7f9;
  --good: #1a7f37; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #9aa4af; --line: #3a424c; --ground: #14171b;
  --band: #1c2127; --good: #57b46b; --bad: #f0776a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 68rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: 0 0 .6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .7rem; padding-top: .7rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .2rem; }
p { margin: .3rem 0 .6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.muted { color: var(--soft); font-size: .88rem; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
blockquote { margin: 1rem 0; padding: .6rem 1rem; border-left: 4px solid var(--line); background: var(--band);
  white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; font-size: .88rem; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: .32rem .55rem .32rem 0; border-bottom: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere; }
th { font-weight: 600; color: var(--soft); border-bottom-width: 2px; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; padding-right: .8rem; }
td.verdict { overflow-wrap: normal; white-space: nowrap; }
td.code, dd.code { font: .84em/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
dl { display: grid; grid-template-columns: minmax(9rem, 15rem) 1fr; gap: .25rem 1.2rem; margin: .8rem 0; font-size: .92rem; }
dt { color: var(--soft); } dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; } figcaption { color: var(--soft); font-size: .88rem; }
@page { margin: 18mm 14mm; }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --ground: #fff; --band: #fff; --good: #0b5; --bad: #b00; }
  body { max-width: none; padding: 0; font-size: 10.5pt; } h2, h3 { break-after: avoid; } tr { break-inside: avoid; }
  thead { display: table-header-group; } }
"""
_HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)
_GOOD = frozenset({"passed", "success"})
_BAD = frozenset({"failed", "error", "missing", "denied"})


def html_of(blocks: Sequence[Block]) -> str:
    """Render a document; its first heading is its title."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(_RENDER[type(block)](block) for block in blocks)
    return f"{_HEAD}<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"


def _heading(block: Heading) -> str:
    return f"<h{block.level}>{escape(block.text)}</h{block.level}>"


def _text(block: AuditText) -> str:
    return f'<p class="{block.tone}">{escape(block.text)}</p>' if block.tone else f"<p>{escape(block.text)}</p>"


def _quote(block: Quote) -> str:
    return f"<blockquote>{escape(block.text)}</blockquote>"


def _facts(block: Facts) -> str:
    code = ' class="code"' if block.code else ""
    rows = (f"<dt>{escape(label)}</dt><dd{code}>{escape(value)}</dd>" for label, value in block.rows)
    return f"<dl>{''.join(rows)}</dl>"


def _table(block: Table) -> str:
    shares = sum(column.share for column in block.columns)
    widths = "".join(f'<col style="width:{100 * column.share / shares:.1f}%">' for column in block.columns)
    head = "".join(f'<th class="{column.kind}">{escape(column.title)}</th>' for column in block.columns)
    rows = "\n".join(f"<tr>{_cells(block, row)}</tr>" for row in block.rows)
    return f"<table><colgroup>{widths}</colgroup><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"


def _cells(block: Table, row: tuple[str, ...]) -> str:
    cells = []
    for column, cell in zip(block.columns, row, strict=True):
        tone = f" {tone_of(cell)}" if column.kind == "verdict" else ""
        cells.append(f'<td class="{column.kind}{tone}">{escape(cell)}</td>')
    return "".join(cells)


def tone_of(verdict: str) -> str:
    """How a verdict is to look."""
    return "good" if verdict in _GOOD else "bad" if verdict in _BAD else ""


def _plot(block: Plot) -> str:
    drawn = plot_svg(block, ink="currentColor")
    return f"<figure>{drawn}<figcaption>{escape(block.title)}</figcaption></figure>"


_RENDER = cast(
    "dict[type[Block], Callable[[Block], str]]",
    {Heading: _heading, AuditText: _text, Quote: _quote, Facts: _facts, Table: _table, Plot: _plot},
)
