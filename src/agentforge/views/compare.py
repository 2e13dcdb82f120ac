"""Two runs side by side for a terminal of 80 columns; see app.comparing for the value. Pure.

Two runs side by side as one HTML file that needs nothing else: no script, no network. Pure.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from itertools import zip_longest
from typing import Any

Row = Mapping[str, Any]

_WIDTH = 80
_NAME, _COLUMN, _STAGE = 22, 26, 10
_DIFF_SHOWN = 40


def compare_lines(value: Row) -> list[str]:
    """Show the comparison: what is the same in a word, what differs line by line."""
    a, b = value["a"], value["b"]
    lines = [f"A {a['task_id']}", f"B {b['task_id']}", ""]
    lines += _columns("", "A", "B")
    lines += _columns("outcome", a["outcome"], b["outcome"])
    for one, two in zip_longest(a["models"], b["models"], fillvalue=""):
        lines += _columns("model", one, two)
    lines += [line for row in value["totals"] for line in _columns(row["name"], row["a"], row["b"])]
    differing = [name for name, same in value["same"].items() if not same]
    lines.append(
        f"not the same: {', '.join(differing)}" if differing else "same request, base, model, prompts, contracts"
    )
    lines += _section("stages", _stages(value["stages"]))
    lines += _section("artifacts", [line for row in value["artifacts"] for line in _artifact(row)])
    lines += _section("requirements", _differing(value["requirements"]))
    lines += _section("tests", _differing(value["tests"]))
    lines += _section("verdicts", _verdicts(value["verdicts"]))
    lines += _section("changed files", _differing(value["changes"]["files"]))
    return [_cut(line, _WIDTH) for line in [*lines, *_between(value["changes"])]]


def shown(value: object) -> str:
    """A value on one line."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:,}"
    return json.dumps(value, ensure_ascii=False, default=str)


def stage_words(row: Row | None) -> str:
    """How a stage went, in a few words."""
    if row is None:
        return "-"
    cost = f", ${row['cost_usd']}" if row["cost_usd"] else ""
    return f"{row['status']}, attempts {row['attempts']}, steps {row['steps']}, {row['tokens']:,} tokens{cost}"


def _columns(name: str, a: object, b: object) -> list[str]:
    one, two = _cut(shown(a), _COLUMN), _cut(shown(b), _COLUMN)
    return [f"{name:<{_NAME}}  {one:<{_COLUMN}}  {two}".rstrip()]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines or ("nothing",))]


def _stages(rows: Sequence[Row]) -> list[str]:
    width = max([len(row["name"]) + 1 for row in rows] + [_STAGE])
    return [
        f"{name:<{width}}{side.upper()} {stage_words(row[side])}"
        for row in rows
        for name, side in ((row["name"], "a"), ("", "b"))
    ]


def _artifact(row: Row) -> list[str]:
    if not (row["a"] and row["b"]):
        return [f"{row['stage']}: only in {'A' if row['a'] else 'B'}"]
    always = f", {row['of_the_run']} are of the run itself" if row["of_the_run"] else ""
    head = f"{row['stage']}: {row['same']} fields the same, {len(row['differing'])} differ{always}"
    return [head, *(f"  {line}" for item in row["differing"] for line in _pair(item))]


def _differing(rows: Sequence[Row]) -> list[str]:
    same = sum(1 for row in rows if row["a"] == row["b"])
    lines = [f"{same} the same"] if same else []
    return [*lines, *(line for row in rows if row["a"] != row["b"] for line in _pair(row))]


def _verdicts(rows: Sequence[Row]) -> list[str]:
    """Rules that were judged in both runs and differ, one by one; the stages that only one of them judged, counted."""
    both = [row for row in rows if row["a"] is not None and row["b"] is not None]
    words = [{**row, "a": verdict_words(row["a"]), "b": verdict_words(row["b"])} for row in both]
    alone = Counter(
        (str(row["name"]).partition(": ")[0], "A" if row["b"] is None else "B") for row in rows if row not in both
    )
    more = [
        f"{stage}: {count} {'rule' if count == 1 else 'rules'} only in {side}" for (stage, side), count in alone.items()
    ]
    return [*_differing(words), *more]


def verdict_words(row: Row | None) -> str:
    """What came of a rule, in a few words."""
    if row is None:
        return "-"
    return "holds" if row["passed"] else f"does not hold: {row['message']}"


def _pair(row: Row) -> list[str]:
    return [str(row["name"]), f"  A {shown(row['a'])}", f"  B {shown(row['b'])}"]


def _between(changes: Row) -> list[str]:
    if changes["same_tree"]:
        return ["", "the resulting files are the same, byte for byte"]
    if changes["between"] is None:
        return ["", "the repository does not hold both results: no patch between them"]
    lines = str(changes["between"]).splitlines()
    more = [f"... {len(lines) - _DIFF_SHOWN} more lines: --html or --json"] if len(lines) > _DIFF_SHOWN else []
    return ["", "from A's files to B's", *lines[:_DIFF_SHOWN], *more]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}
table{border-collapse:collapse;width:100%;table-layout:fixed}
td,th{border-bottom:1px solid #ddd;padding:.3em .6em;text-align:left;vertical-align:top;overflow-wrap:anywhere}
th:first-child{width:24%}tr.differs td{background:#fff6e0}
pre{background:#f6f6f6;padding:1em;overflow-x:auto;font-size:13px}.add{color:#116329}.del{color:#a40e26}
@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}tr.differs td{background:#3a3320}
pre{background:#262626}td,th{border-color:#444}.add{color:#7ee787}.del{color:#ff9a9a}}
"""


def compare_html(value: Row) -> str:
    """Write the whole comparison; what differs is marked."""
    a, b = value["a"], value["b"]
    heads = [{"name": name, "a": a[name], "b": b[name]} for name in ("outcome", "request", "started_at", "parent")]
    heads.append({"name": "models", "a": ", ".join(a["models"]), "b": ", ".join(b["models"])})
    same = [{"name": name, "a": "same" if told else "differs", "b": ""} for name, told in value["same"].items()]
    stages = [{**row, "a": stage_words(row["a"]), "b": stage_words(row["b"])} for row in value["stages"]]
    verdicts = [{**row, "a": verdict_words(row["a"]), "b": verdict_words(row["b"])} for row in value["verdicts"]]
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{escape(a['task_id'])} and {escape(b['task_id'])}</title><style>{_STYLE}</style>",
        f"<h1>{escape(a['task_id'])} <small>and</small> {escape(b['task_id'])}</h1>",
        _table("Runs", [*heads, *value["totals"]]),
        _table("What they began with", same),
        _table("Stages", stages),
        *(_artifact_html(row) for row in value["artifacts"]),
        _table("Requirements", value["requirements"]),
        _table("Tests", value["tests"]),
        _table("Verdicts", verdicts),
        _table("Changed files", value["changes"]["files"]),
        _patch(value["changes"]),
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _table(title: str, rows: Sequence[Row]) -> str:
    if not rows:
        return f"<h2>{escape(title)}</h2><p>nothing</p>"
    body = "\n".join(_row(row) for row in rows)
    return f"<h2>{escape(title)}</h2><table><tr><th></th><th>A</th><th>B</th></tr>\n{body}\n</table>"


def _row(row: Row) -> str:
    mark = ' class="differs"' if row["a"] != row["b"] and row["b"] != "" else ""
    cells = "".join(f"<td>{escape(_words(row[side]))}</td>" for side in ("a", "b"))
    return f"<tr{mark}><th>{escape(str(row['name']))}</th>{cells}</tr>"


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {shown(item)}" for key, item in value.items())
    return shown(value)


def _artifact_html(row: Row) -> str:
    title = f"Artifact of {row['stage']}"
    if not (row["a"] and row["b"]):
        return f"<h2>{escape(title)}</h2><p>only in {'A' if row['a'] else 'B'}</p>"
    told = f"<p>{row['same']} fields are the same, {row['of_the_run']} belong to the run itself.</p>"
    if not row["differing"]:
        return f"<h2>{escape(title)}</h2>{told}"
    return _table(title, row["differing"]) + told


def _patch(changes: Row) -> str:
    if changes["same_tree"]:
        return "<h2>Files</h2><p>The resulting files are the same, byte for byte.</p>"
    if changes["between"] is None:
        return "<h2>Files</h2><p>The repository does not hold both results.</p>"
    lines = "\n".join(_patch_line(line) for line in str(changes["between"]).splitlines())
    return f"<h2>From A's files to B's</h2><pre>{lines}</pre>"


def _patch_line(line: str) -> str:
    text = escape(line.encode("utf-8", "replace").decode("utf-8"))
    kind = {"+": "add", "-": "del"}.get(line[:1])
    return f'<span class="{kind}">{text}</span>' if kind else text
