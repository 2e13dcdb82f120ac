"""An evaluation as one value for JSON, and as lines for a terminal. Pure.

What the rows of an evaluation come to: counts with intervals, costs, losses by stage, and what changed. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import comb, sqrt
from typing import Any

from agentforge.evals.trials.results import Results
from agentforge.evals.trials.verdict import VERDICTS

Value = dict[str, Any]


def report_value(results: Results, *, against: Results | None = None) -> Value:
    """The whole report: plan, figures by model, rows, and the comparison with an earlier one."""
    plan = results.plan
    value: Value = {
        "ok": not any(row["verdict"] == "wrong" for row in results.rows),
        "set": plan.name,
        "digest": plan.digest,
        "at": plan.at,
        "version": plan.version,
        "settings": dict(plan.settings),
        "limits": dict(plan.limits),
        "folder": str(results.folder),
        "complete": results.complete,
        "missing": len(results.missing()),
        "models": figures(results.rows),
        "rows": [dict(row) for row in results.rows],
    }
    if against is not None:
        value["against"] = {
            "folder": str(against.folder),
            "at": against.plan.at,
            "changed": [
                name for name, digest in plan.digests.items() if against.plan.digests.get(name, digest) != digest
            ],
            **compared(against.rows, results.rows),
        }
    return value


def report_lines(value: Mapping[str, Any]) -> list[str]:
    """The report without its rows."""
    lines = [f"{value['set']}, {value['at']}: {value['folder']}"]
    if value["missing"]:
        lines.append(f"{value['missing']} tasks are not played yet: go on with --resume")
    for one in value["models"]:
        lines += ["", *_model_lines(one)]
    if "against" in value:
        lines += ["", *_comparison_lines(value["against"])]
    return lines


def row_line(row: Mapping[str, Any], *, width: int) -> str:
    """A row: task, verdict, and where and why it was lost."""
    lost = f" in {row['lost_in']}" if row["lost_in"] else ""
    why = f": {row['why']}" if row["why"] and row["verdict"] != "right" else ""
    spent = f"{row.get('calls', 0)} calls, {_tokens(row)} tokens, {row.get('wall_s', 0):.1f} s"
    return f"{row['task']:<{width}}  {row['verdict']:<9} {spent}{lost}{why}"


def _model_lines(one: Mapping[str, Any]) -> list[str]:
    counts = ", ".join(f"{name} {_with_interval(one[name])}" for name in VERDICTS)
    lines = [f"{one['model']}: {one['tasks']} tasks", f"  {counts}"]
    if one["with_examples"]:
        some = one["with_examples"]
        lines.append(
            f"  with examples ({some['tasks']}): right {_with_interval(some['right'])}, wrong {some['wrong']['n']}"
        )
    lines += [f"  {name:<8} {_counted(found)}" for name, found in one["by_action"].items()]
    if one["lost_in"]:
        lines.append("  lost in " + ", ".join(f"{stage} {n}" for stage, n in one["lost_in"].items()))
    cost = "price not known" if one["cost_usd"] is None else f"${one['cost_usd']:.4f}"
    lines.append(
        f"  {one['calls']:.0f} calls, {_tokens(one)} tokens, {cost}, {one['wall_s']:.1f} s, CPU {one['cpu_s']:.1f} s"
    )
    lines.append(f"  {'stage':<10}{'tasks':>6}{'calls':>7}{'tokens':>10}{'wall s':>10}{'CPU s':>10}")
    lines += [_stage_line(stage) for stage in one["stages"]]
    return lines


def _stage_line(stage: Mapping[str, Any]) -> str:
    counts = f"{stage['tasks']:>6}{stage['calls']:>7.0f}{_tokens(stage):>10}"
    return f"  {stage['name']:<10}{counts}{stage['wall_s']:>10.1f}{stage['cpu_s']:>10.1f}"


def _comparison_lines(value: Mapping[str, Any]) -> list[str]:
    if not value["tasks"]:
        return [f"against {value['at']} ({value['folder']}): no task was played in both"]
    lines = [
        f"against {value['at']} ({value['folder']}): {value['better']} better, {value['worse']} worse, "
        f"{value['same']} the same of {value['tasks']} (p = {value['p']})"
    ]
    if value["changed"]:
        lines.append(f"  changed in between: {', '.join(value['changed'])}")
    for change in value["changes"]:
        lines.append(f"  {'+' if change['better'] else '-'} {change['task']}: {change['before']} -> {change['now']}")
    sums = value["sums"]
    lines.append("  " + ", ".join(f"{name} {pair['before']:g} -> {pair['now']:g}" for name, pair in sums.items()))
    return lines


def _with_interval(rate: Mapping[str, Any]) -> str:
    if rate["rate"] is None:
        return "0"
    return f"{rate['n']} ({rate['rate']:.0%}, {rate['low']:.0%} to {rate['high']:.0%})"


def _counted(found: Mapping[str, int]) -> str:
    names: Sequence[str] = VERDICTS
    return ", ".join(f"{found[name]} {name}" for name in names if name in found)


def _tokens(row: Mapping[str, Any]) -> int:
    return int(row.get("prompt_tokens", 0) + row.get("completion_tokens", 0))


Row = Mapping[str, Any]

_Z = 1.959964  # 95 %
_SUMS = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "wall_s", "cpu_s")
_GOOD = {"right": 3, "escalated": 2, "failed": 1, "wrong": 0}


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927.
    """
    if n == 0:
        return 0.0, 1.0
    rate, spread = hits / n, _Z * _Z / n
    middle = rate + spread / 2
    half = _Z * sqrt(rate * (1 - rate) / n + spread / (4 * n))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def figures(rows: Sequence[Row]) -> list[Value]:
    """The figures of each model, in the order of the rows."""
    models = dict.fromkeys(str(row["model"]) for row in rows)
    return [_of_model(model, [row for row in rows if row["model"] == model]) for model in models]


def compared(before: Sequence[Row], after: Sequence[Row]) -> Value:
    """What became of the tasks that two evaluations have in common.

    Rows of the same model are compared; where the models differ altogether, each model of the one with the first of the other.
    `p` is the two-sided sign test of better against worse: how likely so large a difference is when nothing has changed.
    """
    models = {str(row["model"]) for row in before} & {str(row["model"]) for row in after}
    old = {_key(row, models): row for row in reversed(before)}
    pairs = [(old[_key(row, models)], row) for row in after if _key(row, models) in old]
    moved = [_change(a, b) for a, b in pairs if a["verdict"] != b["verdict"]]
    better = sum(1 for row in moved if row["better"])
    worse = len(moved) - better
    return {
        "tasks": len(pairs),
        "better": better,
        "worse": worse,
        "same": len(pairs) - len(moved),
        "p": round(sign_test(better, worse), 4),
        "changes": moved,
        "sums": {name: {"before": _sum(name, [a for a, _ in pairs]), "now": _sum(name, [b for _, b in pairs])} for name in _SUMS},
    }  # fmt: skip


def sign_test(better: int, worse: int) -> float:
    """The probability of a difference at least as large, when both directions are equally likely."""
    n = better + worse
    tail = sum(comb(n, k) for k in range(min(better, worse) + 1)) / 2.0**n
    return min(1.0, 2 * tail)


def _of_model(model: str, rows: Sequence[Row]) -> Value:
    with_examples = [row for row in rows if row.get("examples")]
    return {
        "model": model,
        "tasks": len(rows),
        **_counts(rows),
        "with_examples": {"tasks": len(with_examples), **_counts(with_examples)} if with_examples else None,
        "by_action": _split(rows, "action"),
        "by_expected": _split(rows, "expected"),
        "lost_in": dict(Counter(str(row["lost_in"]) for row in rows if row["verdict"] != "right").most_common()),
        **{name: _sum(name, rows) for name in _SUMS},
        "cost_usd": _cost(rows),
        "stages": _stages(rows),
    }


def _counts(rows: Sequence[Row]) -> Value:
    return {name: _rate(sum(1 for row in rows if row["verdict"] == name), len(rows)) for name in VERDICTS}


def _rate(hits: int, n: int) -> Value:
    low, high = wilson(hits, n)
    return {"n": hits, "rate": round(hits / n, 4) if n else None, "low": round(low, 4), "high": round(high, 4)}


def _split(rows: Sequence[Row], name: str) -> Value:
    groups = dict.fromkeys(str(row[name]) for row in rows)
    return {group: dict(Counter(str(row["verdict"]) for row in rows if row[name] == group)) for group in sorted(groups)}


def _stages(rows: Sequence[Row]) -> list[Value]:
    """Sums by stage over all tasks, in the order in which stages first come."""
    found: dict[str, Value] = {}
    for stage in (stage for row in rows for stage in row.get("stages", ())):
        sums = found.setdefault(stage["name"], {"name": stage["name"], "tasks": 0, **dict.fromkeys(_SUMS, 0)})
        sums["tasks"] += 1
        for name in _SUMS:
            sums[name] = round(sums[name] + stage.get(name, 0), 3)
    return list(found.values())


def _sum(name: str, rows: Iterable[Row]) -> float:
    total = sum(row.get(name) or 0 for row in rows)
    return round(total, 3)


def _cost(rows: Sequence[Row]) -> float | None:
    """The money of all tasks; None as soon as one of them had a call without a known price."""
    costs = [row.get("cost_usd") for row in rows if row.get("calls")]
    return None if None in costs else round(sum(cost for cost in costs if cost is not None), 6)


def _key(row: Row, models: set[str]) -> tuple[str, str]:
    return (str(row["model"]) if models else "", str(row["task"]))


def _change(before: Row, after: Row) -> Value:
    return {
        "task": after["task"],
        "model": after["model"],
        "before": before["verdict"],
        "now": after["verdict"],
        "better": _GOOD[after["verdict"]] > _GOOD[before["verdict"]],
        "why": after.get("why", "") or before.get("why", ""),
    }
