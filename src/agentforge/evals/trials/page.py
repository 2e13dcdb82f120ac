"""An evaluation as one HTML file that needs nothing else: figures, plots as inline SVG, every row with its trail. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from agentforge.evals.trials.plots import COLOURS, stage_bars, verdict_bars
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
