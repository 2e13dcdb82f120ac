"""The timeline of a run as rows: a stage each, with its bar, durations, tokens, cost and repetitions. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from agentforge.dashboard.rendering import count_text, money_text, seconds_text
from agentforge.events.state.run_state import StageState

if TYPE_CHECKING:
    from agentforge.dashboard.timeline import AttemptSpan, Timeline

_WIDE, _HIGH, _SLIVER = 1000.0, 16, 3.0
_STEPS_SHOWN = 40


def stage_rows(
    timeline: Timeline,
    names: Sequence[str],
    stages: Mapping[str, StageState],
    *,
    now: float | None,
    ended: bool = False,
) -> list[dict[str, Any]]:
    """One row for each stage, in their order, those that are still to come included.

    Args:
        now: seconds since 1970 while a process drives the run, else None.
        ended: nothing more will happen.
    """
    end = max(timeline.last, now or 0.0)
    attempts = timeline.attempts
    if now is not None and attempts and attempts[-1].passed is None:
        attempts = [*attempts[:-1], replace(attempts[-1], ended=end)]
    rows = [
        _row(name, [one for one in attempts if one.stage == name], timeline, stages.get(name, StageState()), end=end)
        for name in names
    ]
    for row in rows:
        if row["status"] == "running" and now is None:
            row["status"] = "ended" if ended else "paused"
    return rows


def _row(
    name: str, attempts: Sequence[AttemptSpan], timeline: Timeline, stage: StageState, *, end: float
) -> dict[str, Any]:
    steps = [step for one in attempts for step in one.steps]
    costs = [step.cost_usd for step in steps]
    refused = [one.refused for one in attempts if one.refused]
    return {
        "name": name,
        "status": stage.status,
        "reason": stage.reason,
        "attempts": len(attempts),
        "seconds": sum(timeline.at_work_s(one.begun, one.ended) for one in attempts) if attempts else None,
        "steps": len(steps),
        "tokens": sum(step.tokens for step in steps),
        "cost": None if None in costs else sum(cost for cost in costs if cost is not None),
        "model_s": sum(step.model_ms for step in steps) / 1000,
        "measured_s": sum(one.measured_ms for one in attempts) / 1000,
        "asked_again": sum(step.asked_again for step in steps),
        "refused": [(number, texts) for number, texts in enumerate(refused, 1)][-3:],
        "bar": _bar(attempts, timeline, end=end),
        "rows": [
            {"step": step, "seconds": timeline.at_work_s(step.begun, step.ended)} for step in steps[-_STEPS_SHOWN:]
        ],
        "more": max(0, len(steps) - _STEPS_SHOWN),
    }


def _bar(attempts: Sequence[AttemptSpan], timeline: Timeline, *, end: float) -> str:
    """When the attempts were, on an axis of the time in which the run was driven; breaks are lines on it."""
    whole = timeline.at_work_s(timeline.begun, end) or 1.0

    def place(moment: float) -> float:
        return _WIDE * timeline.at_work_s(timeline.begun, moment) / whole

    drawn = []
    for one in attempts:
        left, right = place(one.begun), place(one.ended)
        kind = {True: "passed", False: "refused", None: "open"}[one.passed]
        told = f"attempt {one.number}, {seconds_text(timeline.at_work_s(one.begun, one.ended))}, {kind}"
        drawn.append(
            f'<rect class="a-{kind}" x="{min(left, _WIDE - _SLIVER):.1f}" y="2" width="{max(_SLIVER, right - left):.1f}" '
            f'height="{_HIGH - 4}"><title>{escape(told)}</title></rect>'
        )
    for stop in timeline.breaks:
        at = place(stop.begun)
        drawn.append(f'<path class="a-break" d="M{at:.1f} 0V{_HIGH}"/>')
    return (
        f'<svg class="span" viewBox="0 0 {_WIDE:.0f} {_HIGH}" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(drawn)}</svg>"
    )


def break_rows(timeline: Timeline) -> list[dict[str, Any]]:
    """When nobody drove the run, and why; the latest last."""
    return [
        {"kind": one.kind, "why": one.why, "seconds": None if one.ended is None else one.ended - one.begun}
        for one in timeline.breaks
    ]


def totals_line(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The sums below the rows, as words."""
    costs = [row["cost"] for row in rows]
    return {
        "seconds": seconds_text(sum(row["seconds"] or 0.0 for row in rows)),
        "steps": str(sum(row["steps"] for row in rows)),
        "tokens": count_text(sum(row["tokens"] for row in rows)),
        "cost": money_text(None if None in costs else sum(costs)),
        "again": str(sum(max(0, row["attempts"] - 1) + row["asked_again"] for row in rows)),
    }
