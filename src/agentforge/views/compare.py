"""Two runs side by side for a terminal of 80 columns; see app.comparing for the value. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
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
