"""An evaluation as one value for JSON, and as lines for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.evals.trials.figures import compared, figures
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
