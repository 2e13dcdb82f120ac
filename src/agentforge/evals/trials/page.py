"""An evaluation as one HTML file that needs nothing else: figures, plots as inline SVG, every row with its trail. Pure.

The plots of an evaluation as SVG: shares of verdicts with their intervals, and sums by stage. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from agentforge.evals.trials.verdict import VERDICTS

Row = Mapping[str, Any]

_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#222}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}
table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ddd;padding:.3em .6em;text-align:left;vertical-align:top;overflow-wrap:break-word}
td:last-child{overflow-wrap:anywhere}.wide{overflow-x:auto}
td.n,th.n{text-align:right;white-space:nowrap}svg{max-width:100%;height:auto}
@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}td,th{border-color:#444}a{color:#8ab4f8}}
"""


def report_html(value: Row, *, beside: PurePath) -> str:
    """Write the report (see report_value).

    Args:
        beside: the folder in which the page will stand; links to trails are relative to it where that is possible.
    """
    title = f"{value['set']}: {', '.join(one['model'] for one in value['models'])}"
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(value['at'])}, AgentForge {escape(value['version'])}, kept in <code>{escape(value['folder'])}</code>"
        + (f"; {value['missing']} tasks are not played yet" if value["missing"] else "")
        + "</p>",
        "<h2>Verdicts</h2>",
        verdict_bars([(one["model"], one) for one in value["models"]]),
        "<p>The line beside each share is its 95 % confidence interval (Wilson).</p>",
        *(_model(one) for one in value["models"]),
        _comparison(value["against"]) if "against" in value else "",
        "<h2>Tasks</h2>",
        _tasks(value, beside),
        "</html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _model(one: Row) -> str:
    rows = [
        (name, _interval(one[name]), _interval(one["with_examples"][name]) if one["with_examples"] else "")
        for name in VERDICTS
    ]
    lost = ", ".join(f"{stage} {n}" for stage, n in one["lost_in"].items()) or "none"
    actions = [(name, *(found.get(verdict, 0) for verdict in VERDICTS)) for name, found in one["by_action"].items()]
    cost = "price not known" if one["cost_usd"] is None else f"${one['cost_usd']:.4f}"
    tokens = one["prompt_tokens"] + one["completion_tokens"]
    return "\n".join(
        (
            f"<h2>{escape(one['model'])}</h2>",
            _table(("verdict", "all", "with examples"), rows),
            f"<p>Lost in: {escape(lost)}. {one['calls']:.0f} calls, {tokens:.0f} tokens, "
            f"{escape(cost)}, {one['wall_s']:.1f} s, CPU {one['cpu_s']:.1f} s.</p>",
            _table(("action", *VERDICTS), actions),
            stage_bars("Wall and processor seconds by stage", one["stages"], ("wall_s", "cpu_s"), lost=one["lost_in"]),
            stage_bars("Tokens by stage", one["stages"], ("prompt_tokens", "completion_tokens")),
        )
    )


def _comparison(value: Row) -> str:
    changes = [
        ("better" if one["better"] else "worse", one["task"], one["before"], one["now"], one["why"])
        for one in value["changes"]
    ]
    sums = [(name, f"{pair['before']:g}", f"{pair['now']:g}") for name, pair in value["sums"].items()]
    changed = f" Changed in between: {', '.join(value['changed'])}." if value["changed"] else ""
    return "\n".join(
        (
            f"<h2>Against {escape(value['at'])}</h2>",
            f"<p>{value['better']} better, {value['worse']} worse, {value['same']} the same of {value['tasks']} "
            f"(sign test p = {value['p']}).{escape(changed)}</p>",
            _table(("", "task", "before", "now", "why"), changes) if changes else "",
            _table(("sum over the same tasks", "before", "now"), sums),
        )
    )


def _tasks(value: Row, beside: PurePath) -> str:
    head = (
        "task",
        "model",
        "action",
        "expected",
        "verdict",
        "lost in",
        "calls",
        "tokens",
        "wall s",
        "CPU s",
        "trail",
        "why",
    )
    body = "\n".join(_task(row, value["folder"], beside) for row in value["rows"])
    heads = "".join(f"<th{_number(name)}>{name}</th>" for name in head)
    return f'<div class="wide"><table><tr>{heads}</tr>\n{body}\n</table></div>'


def _task(row: Row, folder: str, beside: PurePath) -> str:
    tokens = row.get("prompt_tokens", 0) + row.get("completion_tokens", 0)
    cells = [
        escape(row["task"]), escape(row["model"]), escape(row["action"]), escape(row["expected"]),
        f'<span style="color:{COLOURS[row["verdict"]]}">&#9632;</span> {escape(row["verdict"])}', escape(row["lost_in"]),
        f"{row.get('calls', 0):.0f}", f"{tokens:.0f}", f"{row.get('wall_s', 0):.1f}", f"{row.get('cpu_s', 0):.1f}",
        _trail(row, folder, beside), escape(row["why"]),
    ]  # fmt: skip
    return (
        "<tr>"
        + "".join(f"<td{' class=n' if 6 <= number < 10 else ''}>{cell}</td>" for number, cell in enumerate(cells))
        + "</tr>"
    )


def _trail(row: Row, folder: str, beside: PurePath) -> str:
    """A link to the run's folder; the run keeps its trail below the repository that it worked in."""
    if not row.get("run_id"):
        return ""
    place = PurePath(folder, row["folder"], "repo", ".agentforge", "tasks", row["run_id"])
    link = place.relative_to(beside).as_posix() if place.is_relative_to(beside) else f"file://{place.as_posix()}"
    return f'<a href="{escape(quote(link, safe=":/"))}">{escape(row["run_id"])}</a>'


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{heads}</tr>\n{body}\n</table>"


def _interval(rate: Row) -> str:
    return "0" if rate["rate"] is None else f"{rate['n']}: {rate['rate']:.0%} ({rate['low']:.0%} to {rate['high']:.0%})"


def _number(name: str) -> str:
    return ' class="n"' if name in ("calls", "tokens", "wall s", "CPU s") else ""


COLOURS = {"right": "#54a24b", "wrong": "#e45756", "escalated": "#f2b134", "failed": "#9d9da1"}
_PAIR = ("#4c78a8", "#b8cbe0")
_WIDTH, _LEFT, _BAR, _GAP = 720, 200, 14, 6
_PLOT_STYLE = 'font-family="system-ui,sans-serif" font-size="11" fill="currentColor"'


def verdict_bars(models: Sequence[tuple[str, Row]]) -> str:
    """Draw, for each model and verdict, the share of tasks as a bar and its confidence interval as a line over it."""
    height = len(models) * (len(VERDICTS) * (_BAR + _GAP) + 26) + 10
    drawn, top = [], 4
    for model, counts in models:
        drawn.append(_text(0, top + 12, model))
        top += 20
        for name in VERDICTS:
            drawn.append(_share(name, counts[name], top))
            top += _BAR + _GAP
        top += 6
    return _svg("shares of verdicts", height, drawn)


def stage_bars(
    title: str, stages: Sequence[Row], names: tuple[str, str], *, lost: Mapping[str, int] | None = None
) -> str:
    """Draw two sums of each stage side by side, and beside them how many tasks it lost."""
    most = max((float(stage[name]) for stage in stages for name in names), default=0.0) or 1.0
    drawn, top = [_text(0, 14, f"{title} ({', '.join(name.replace('_', ' ') for name in names)})")], 24
    for stage in stages:
        told = f", lost {lost[stage['name']]}" if lost and stage["name"] in lost else ""
        drawn.append(_text(0, top + _BAR, f"{stage['name']}{told}"))
        for number, name in enumerate(names):
            wide = (_WIDTH - _LEFT - 90) * float(stage[name]) / most
            place = top + number * (_BAR // 2 + 1)
            drawn.append(_rect(_LEFT, place, wide, _BAR // 2, _PAIR[number]))
        values = " / ".join(f"{float(stage[name]):,.1f}".rstrip("0").rstrip(".") for name in names)
        drawn.append(
            _text(
                _LEFT + (_WIDTH - _LEFT - 90) * max(float(stage[name]) for name in names) / most + 6,
                top + _BAR - 2,
                values,
            )
        )
        top += _BAR + 2 * _GAP
    return _svg(title, top + 6, drawn)


def _share(name: str, rate: Row, top: int) -> str:
    wide = _WIDTH - _LEFT - 60
    share = rate["rate"] or 0.0
    middle = top + _BAR / 2
    low, high = _LEFT + wide * rate["low"], _LEFT + wide * rate["high"]
    return "".join(
        (
            _text(16, top + _BAR - 3, name),
            _rect(_LEFT, top, wide * share, _BAR, COLOURS[name]),
            f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8" stroke="currentColor" '
            'fill="none" stroke-opacity="0.6"/>',
            _text(high + 6, top + _BAR - 3, f"{rate['n']} ({share:.0%})"),
        )
    )


def _rect(left: float, top: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{left:.1f}" y="{top:g}" width="{width:.1f}" height="{height:g}" fill="{colour}"/>'


def _text(left: float, top: float, text: str) -> str:
    return f'<text x="{left:.1f}" y="{top:g}" {_PLOT_STYLE}>{escape(text)}</text>'


def _svg(title: str, height: float, drawn: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" width="{_WIDTH}" height="{height:g}" '
        f'role="img" aria-label="{escape(title)}">{"".join(drawn)}</svg>'
    )
