"""Draw docs/pictures/cost.svg and recall.svg from the tables of docs/live.md and docs/evals.md. `make golden` runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "pictures"
STEP = 8000
"""Tokens that one request of the pipeline may have, `context.step_tokens`."""
_COLOURS = {"right": "#16a34a", "wrong": "#dc2626", "not delivered": "#d97706"}
_GREY = "#64748b"
_LANGUAGES = {"Python": "#2563eb", "JS/TS": "#d97706", "Go": "#0891b2", "Rust": "#dc2626"}
_MEASURES = {
    "ANALYZE: files": "files that ANALYZE sees",
    "definitions": "definitions that ANALYZE sees",
    "SPEC: lines": "lines that SPEC sees",
    "RED: lines": "lines that RED sees",
    "GREEN: lines": "lines that GREEN sees",
}


class Task(NamedTuple):
    """One row of a live table: how it ended, its model calls, its prompt tokens, and its largest request in tokens."""

    outcome: str
    calls: int
    tokens: int
    largest: int


def drawn() -> dict[str, str]:
    """Every plot by the name of its file."""
    return {
        "cost.svg": cost(live_tasks((ROOT / "docs" / "live.md").read_text("utf-8"))),
        "recall.svg": recall(recall_rows((ROOT / "docs" / "evals.md").read_text("utf-8"))),
    }


def tables(page: str) -> Iterator[list[dict[str, str]]]:
    """The tables of a Markdown page; each row maps the names of its columns to its cells."""
    for block in re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE):
        head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines())
        yield [dict(zip(head, row, strict=True)) for row in rows]


def live_tasks(page: str) -> list[Task]:
    """All tasks of the live tables.

    Raises:
        SystemExit: the page has no such table.
    """
    rows = [row for table in tables(page) for row in table if "prompt tokens" in row and "largest" in row]
    if not rows:
        raise SystemExit("docs/live.md has no table with the columns 'prompt tokens' and 'largest'")
    return [
        Task(
            row["outcome"].removesuffix(" (*)"),
            int(row["calls"]),
            _number(row["prompt tokens"]),
            _number(row["largest"]),
        )
        for row in rows
    ]


def recall_rows(page: str) -> dict[str, dict[str, str]]:
    """The rows of the recall table by their first cell.

    Raises:
        SystemExit: the page has no such table.
    """
    for table in tables(page):
        if table and set(_MEASURES) <= set(table[0]):
            return {next(iter(row.values())): row for row in table}
    raise SystemExit(f"docs/evals.md has no table with the columns {', '.join(_MEASURES)}")


def cost(tasks: Sequence[Task]) -> str:
    """Draw the prompt tokens of each task over its calls, and its largest request, both with the bound of a step."""
    calls, tokens = max(task.calls for task in tasks) + 1, max(task.tokens for task in tasks) * 1.1
    largest = max(STEP, *(task.largest for task in tasks)) * 1.1
    middle = median(task.calls for task in tasks), median(task.tokens for task in tasks)
    parts = [_text(60, 18, "Prompt tokens of a task, by its model calls", weight=600)]
    parts.append(_text(394, 290, f"median: {middle[0]:g} calls, {middle[1]:,.0f} tokens", anchor="end"))
    parts += _axes(60, 400, [(n / calls, str(n)) for n in range(0, calls, 3)], _ticks(tokens, 20_000))
    end = min(1.0, tokens / STEP / calls)
    parts.append(_line(60, 300, 60 + 340 * end, 300 - 260 * min(1.0, STEP * calls / tokens)))
    parts.append(_text(250, 110, f"{STEP:,} for each call", anchor="end", colour=_GREY))
    for task in sorted(tasks, key=lambda one: one.outcome == "right", reverse=True):
        parts.append(_dot(60 + 340 * task.calls / calls, 300 - 260 * task.tokens / tokens, task.outcome))
    parts.append(_text(230, 336, "model calls", anchor="middle"))
    parts.append(_text(480, 18, "Largest single request of each task, in tokens", weight=600))
    parts += _axes(480, 820, [], _ticks(largest, 4_000))
    level = 300 - 260 * STEP / largest
    parts += [_line(480, level, 820, level), _text(484, level - 6, f"{STEP:,}, the bound of a step", colour=_GREY)]
    for place, task in enumerate(sorted(tasks, key=lambda one: one.largest)):
        parts.append(_dot(486 + 328 * place / len(tasks), 300 - 260 * task.largest / largest, task.outcome))
    parts.append(_text(650, 336, f"{len(tasks)} tasks, smallest first", anchor="middle"))
    for place, name in enumerate(_COLOURS):
        count = sum(task.outcome == name for task in tasks)
        parts += [_dot(66 + 130 * place, 362, name), _text(76 + 130 * place, 366, f"{name}: {count}")]
    return _svg("What the live tasks cost", 840, 380, parts)


def recall(rows: dict[str, dict[str, str]]) -> str:
    """Draw, for each stage, the share of the true change that its first context shows: over all, by language, and the goal."""
    low, left, right, height = 75.0, 240, 800, 36
    wide = (right - left) / (100 - low)
    parts = [
        _text(
            20,
            18,
            "How much of the true change the first context of a stage shows (245 commits, 8,000 tokens)",
            weight=600,
        )
    ]
    for value in range(75, 101, 5):
        x = left + wide * (value - low)
        parts += [
            _line(x, 36, x, 40 + height * len(_MEASURES), dashed=False, opacity=0.25),
            _text(x, 240, f"{value} %", anchor="middle"),
        ]
    for number, (name, label) in enumerate(_MEASURES.items()):
        y = 58 + height * number
        goal, mean = (left + wide * (float(rows[key][name]) - low) for key in ("goal", "8K, all"))
        parts += [_text(20, y + 4, label), _line(left, y, right, y, dashed=False, opacity=0.15)]
        parts.append(f'<path d="M{goal:.1f} {y - 11}v22" stroke="{_GREY}" stroke-width="3"/>')
        parts.append(f'<circle cx="{mean:.1f}" cy="{y}" r="7" fill="currentColor"/>')
        for language, colour in _LANGUAGES.items():
            x = left + wide * (float(rows[f"8K, {language}"][name]) - low)
            parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{colour}" stroke="#fff" stroke-width="0.8"/>')
    parts += ['<circle cx="27" cy="262" r="7" fill="currentColor"/>', _text(40, 266, "all commits")]
    for number, (language, colour) in enumerate(_LANGUAGES.items()):
        x = 150 + 90 * number
        parts += [f'<circle cx="{x}" cy="262" r="4" fill="{colour}"/>', _text(x + 10, 266, language)]
    parts += [f'<path d="M520 252v20" stroke="{_GREY}" stroke-width="3"/>', _text(530, 266, "goal")]
    return _svg("Context recall", 840, 280, parts)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _ticks(top: float, step: int) -> list[tuple[float, str]]:
    return [(value / top, f"{value:,}") for value in range(0, int(top), step)]


def _axes(left: float, right: float, along: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]]) -> list[str]:
    parts = [f'<path d="M{left} 40V300H{right}" fill="none" stroke="currentColor" stroke-opacity="0.5"/>']
    parts += [_text(left + (right - left) * share, 316, name, anchor="middle") for share, name in along]
    parts += [_text(left - 6, 304 - 260 * share, name, anchor="end") for share, name in up]
    return parts


def _dot(x: float, y: float, outcome: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_COLOURS[outcome]}" fill-opacity="0.75"/>'


def _line(x: float, y: float, x2: float, y2: float, *, dashed: bool = True, opacity: float = 1.0) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="M{x:.1f} {y:.1f}L{x2:.1f} {y2:.1f}" stroke="{_GREY}" stroke-opacity="{opacity:g}"{dashes}/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", weight: int = 400, colour: str = "currentColor"
) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" fill="{colour}">{escape(text)}</text>'


def _svg(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    style = "svg{color:#334155}@media (prefers-color-scheme:dark){svg{color:#e2e8f0}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui,sans-serif" '
        f'font-size="12" role="img" aria-label="{escape(title)}"><style>{style}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    for name, picture in drawn().items():
        (TARGET / name).write_text(picture, "utf-8")
