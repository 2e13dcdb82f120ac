"""Two runs side by side as one HTML file that needs nothing else: no script, no network. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from agentforge.views.compare import shown, stage_words, verdict_words

Row = Mapping[str, Any]

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
        *(_artifact(row) for row in value["artifacts"]),
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


def _artifact(row: Row) -> str:
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
