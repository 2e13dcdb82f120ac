"""When each stage and step of a run began and ended, and when nobody worked on it. Pure: a fold over its records.

The timeline of a run as rows: a stage each, with its bar, durations, tokens, cost and repetitions. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import escape
from typing import Any, cast

from agentforge.dashboard.page_templates import count_text, money_text, seconds_text
from agentforge.events.state.attempt import StageState

Data = Mapping[str, Any]

_SUMMARY_CHARACTERS = 160
_ENDING = ("StagePassed", "StageVerified", "Delivered", "Attested", "RunFinished")


@dataclass(slots=True)
class StepSpan:
    """One call of a model and what it led to.

    Attributes:
        begun, ended: seconds since 1970; `ended` is the last record so far while the step goes on.
        asked_again: requests beyond the first, and models that failed before another answered.
        cost_usd: None when the price of the model is not known.
        tools: (name, status, summary) of each call.
        verdict: whether what it handed in was accepted; None when it handed in nothing.
    """

    number: int
    stage: str
    attempt: int
    begun: float
    ended: float
    at: str
    model: str = ""
    model_ms: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    asked_again: int = 0
    failed: str = ""
    said: str = ""
    tools: list[tuple[str, str, str]] = field(default_factory=list)
    verdict: bool | None = None

    @property
    def tokens(self) -> int:
        """What went out and came back."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(slots=True)
class AttemptSpan:
    """One attempt at a stage.

    Attributes:
        begun: when the attempt before it ended.
        passed: None while it goes on, or where nothing was judged.
        refused: what the rules found, in their words.
        measured_ms: how long tests and checks ran for it.
    """

    stage: str
    number: int
    begun: float
    ended: float
    steps: list[StepSpan] = field(default_factory=list)
    passed: bool | None = None
    refused: tuple[str, ...] = ()
    measured_ms: int = 0


@dataclass(frozen=True, slots=True)
class Break:
    """Time in which nobody drove the run: it waited for an answer, or stood still.

    Attributes:
        ended: None while it lasts.
    """

    kind: str
    begun: float
    ended: float | None
    why: str


class Timeline:
    """The attempts, steps and breaks of a run, record by record.

    Attributes:
        breaks: oldest first; those of questions asked together are one.
        interrupted: {reason, slug} of the record that says why the last process stopped; {} when one went on.
    """

    def __init__(self) -> None:
        self.attempts: list[AttemptSpan] = []
        self.steps: list[StepSpan] = []
        self.breaks: list[Break] = []
        self.interrupted: Data = {}
        self.begun = self.last = 0.0
        self._open: set[str] = set()
        self._measured_ms = 0

    def see(self, kind: str, at: str, data: Data) -> None:
        """Take in one record."""
        moment = datetime.fromisoformat(at).timestamp()
        self.begun = self.begun or moment
        before, self.last = self.last or moment, moment
        if kind in ("RunResumed", "EscalationResolved", "EscalationRaised", "RunInterrupted"):
            self._see_break(kind, moment, data, before)
        else:
            self._see_work(kind, at, data)
        if self.attempts and (self.attempts[-1].passed is None or kind in _ENDING):
            self.attempts[-1].ended = moment

    def _see_work(self, kind: str, at: str, data: Data) -> None:
        if kind == "StageStarted":
            number = int(data["attempt"])
            begun = self.attempts[-1].ended if self.attempts else self.begun  # what is measured between belongs to it
            self.attempts.append(
                AttemptSpan(str(data["stage"]), number, begun, self.last, measured_ms=self._measured_ms)
            )
            self._measured_ms = 0
        elif kind == "FactsGathered":
            self._see_facts(int(data.get("duration_ms") or 0))
        elif kind == "ModelCalled":
            self._begin_step(at, data)
        elif kind == "StageVerified":
            self._judge(data)
        elif self.steps and kind in _OF_A_STEP:
            step = self.steps[-1]
            if data.get("step") == step.number:
                step.ended = self.last
                _OF_A_STEP[kind](step, data)

    def _see_facts(self, duration_ms: int) -> None:
        if self.attempts and self.attempts[-1].passed is None:
            self.attempts[-1].measured_ms += duration_ms
        else:
            self._measured_ms += duration_ms

    def _begin_step(self, at: str, data: Data) -> None:
        number, stage, attempt = int(data["step"]), str(data["stage"]), int(data["attempt"])
        if self.steps and self.steps[-1].number == number:  # asked once more after a process died
            self.steps[-1].asked_again += 1
            return
        step = StepSpan(number, stage, attempt, self.last, self.last, at, model=str(data.get("model", "")))
        self.steps.append(step)
        if self.attempts:
            self.attempts[-1].steps.append(step)

    def _judge(self, data: Data) -> None:
        found = [one for one in reversed(self.attempts) if one.stage == data["stage"]][:1]
        for attempt in found:
            attempt.passed = bool(data["passed"])
            attempt.refused = tuple(
                str(row.get("message") or row.get("rule"))
                for row in data.get("results", ())
                if not row.get("passed") and row.get("sort", "fact") == "fact"
            )
            if attempt.steps:
                attempt.steps[-1].verdict = attempt.passed

    def _see_break(self, kind: str, moment: float, data: Data, before: float) -> None:
        if kind == "EscalationRaised":
            self._open.add(str(data["escalation_id"]))
            self._begin_break(str(data["kind"]), moment, str(data.get("question") or data["reason"]))
        elif kind == "RunInterrupted":
            self.interrupted = data
            self._begin_break("stopped", moment, str(data["reason"]))
        elif kind == "EscalationResolved":
            self._open.discard(str(data["escalation_id"]))
            if not self._open:
                self._end_break(moment)
        else:
            self.interrupted = {}
            last = self.breaks[-1] if self.breaks else None
            if last is not None and last.ended == before:  # it was answered, and somebody went on later
                self.breaks[-1] = Break(last.kind, last.begun, None, last.why)
            elif last is None or last.ended is not None:
                self._begin_break("stopped", before, "the process that drove it had ended")
            self._end_break(moment)

    def _begin_break(self, kind: str, moment: float, why: str) -> None:
        if not self.breaks or self.breaks[-1].ended is not None:
            self.breaks.append(Break(kind, moment, None, why))

    def _end_break(self, moment: float) -> None:
        if self.breaks and self.breaks[-1].ended is None:
            last = self.breaks[-1]
            self.breaks[-1] = Break(last.kind, last.begun, moment, last.why)

    def at_work_s(self, begun: float, ended: float) -> float:
        """Seconds between two moments in which somebody drove the run."""
        idle = sum(
            max(0.0, min(ended, one.ended if one.ended is not None else ended) - max(begun, one.begun))
            for one in self.breaks
        )
        return max(0.0, ended - begun - idle)


def _replied(step: StepSpan, data: Data) -> None:
    usage = cast("Mapping[str, int]", data.get("usage") or {})
    step.prompt_tokens += usage.get("prompt_tokens") or 0
    step.completion_tokens += usage.get("completion_tokens") or 0
    step.model, step.model_ms = str(data.get("model") or step.model), step.model_ms + int(data.get("duration_ms") or 0)
    cost = data.get("cost_usd")
    step.cost_usd = None if cost is None or step.cost_usd is None else step.cost_usd + cost
    step.asked_again += max(0, int(data.get("requests") or 1) - 1) + len(data.get("failed") or ())
    step.said, step.failed = _short(data.get("text")), ""


def _failed(step: StepSpan, data: Data) -> None:
    step.failed = f"{data.get('slug')}: {_short(data.get('message'))}"
    step.asked_again += max(0, int(data.get("requests") or 1) - 1)


def _used(step: StepSpan, data: Data) -> None:
    step.tools.append((str(data.get("name")), str(data.get("status")), _short(data.get("summary"))))


def _finished(step: StepSpan, data: Data) -> None:
    step.said = step.said or _short(data.get("summary"))


_OF_A_STEP = {"ModelReplied": _replied, "ModelFailed": _failed, "ToolFinished": _used, "StepFinished": _finished}


def _short(value: object) -> str:
    text = " ".join(str(value or "").split())
    return text if len(text) <= _SUMMARY_CHARACTERS else f"{text[:_SUMMARY_CHARACTERS].rpartition(' ')[0]} …"


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
