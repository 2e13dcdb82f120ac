"""Independent attempts: several runs forked at one place, of which the best goes on. Events and their fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, cast

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsStarted(Event):
    """AgentForge is about to fork this run into independent attempts: the intent.

    Attributes:
        stage: the first stage that each does on its own.
        children: their ids, in order.
    """

    stage: str
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFinished(Event):
    """One of the independent attempts came to an end.

    Attributes:
        number: from 1.
        passed: its implementation was verified by all rules.
        reason: why not, in words.
        score: mutation score of its tests on its implementation, None = not measured.
        lines: added and removed lines of product files.
        used: {llm_calls, prompt_tokens, cached_tokens, completion_tokens, cost_usd, unpriced, steps} of this attempt alone.
        head, records: its trail as it ended.
    """

    number: int
    child: str
    passed: bool
    reason: str = ""
    score: float | None = None
    lines: int = 0
    tree: str = ""
    used: Json = field(default_factory=dict)
    head: str = ""
    records: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptChosen(Event):
    """AgentForge compared what was measured of the attempts, and goes on with this one.

    Attributes:
        number: 0 = none passed.
        reason: by what it was better.
        stages: what it handed in: stage -> {draft, tree}; verified again in this run.
    """

    number: int
    child: str = ""
    reason: str = ""
    stages: Json = field(default_factory=dict)


def best_of(rows: tuple[Json, ...]) -> tuple[Json | None, str]:
    """The attempt that wins and why: verified, then the higher mutation score, then the smaller diff, then the earlier one."""
    passed = [row for row in rows if row.get("passed")]
    if not passed:
        return None, f"none of {len(rows)} attempts passed all rules"
    ranked = sorted(passed, key=_rank)
    first = ranked[0]
    if len(ranked) == 1:
        return first, f"the only one of {len(rows)} that passes all rules"
    second = ranked[1]
    if _score(first) != _score(second):
        return first, f"mutation score {_score(first):.2f} against {_score(second):.2f}"
    if first.get("lines") != second.get("lines"):
        return first, f"equal mutation scores, {first.get('lines')} changed lines against {second.get('lines')}"
    return first, "equal in all that is measured: the earliest"


def attempts_started(state: RunState, event: AttemptsStarted, _at: str) -> RunState:
    """Remember who is on the way; done again after a crash it changes nothing."""
    known = state.relations.attempts.get("rows", ()) if state.relations.attempts.get("stage") == event.stage else ()
    return replace(
        state,
        relations=replace(
            state.relations, attempts={"stage": event.stage, "children": list(event.children), "rows": known}
        ),
    )


def attempt_finished(state: RunState, event: AttemptFinished, _at: str) -> RunState:
    """Keep how it ended, and count what it used as used by this run."""
    row = {
        name: getattr(event, name) for name in ("number", "child", "passed", "reason", "score", "lines", "tree", "used")
    }
    rows = [one for one in _rows(state) if one.get("number") != event.number]
    used = cast("Mapping[str, int]", event.used)
    old = state.usage.totals
    totals = replace(
        old,
        steps=old.steps + used.get("steps", 0),
        llm_calls=old.llm_calls + used.get("llm_calls", 0),
        requests=old.requests + used.get("requests", 0),
        prompt_tokens=old.prompt_tokens + used.get("prompt_tokens", 0),
        cached_tokens=old.cached_tokens + used.get("cached_tokens", 0),
        completion_tokens=old.completion_tokens + used.get("completion_tokens", 0),
        cost_usd=old.cost_usd + float(used.get("cost_usd", 0)),
        cost_known=old.cost_known and not used.get("unpriced", 0),
    )
    return replace(
        state,
        relations=replace(state.relations, attempts={**state.relations.attempts, "rows": [*rows, row]}),
        usage=replace(state.usage, totals=totals),
    )


def attempt_chosen(state: RunState, event: AttemptChosen, _at: str) -> RunState:
    """The winner's work is taken over stage by stage."""
    chosen = {"number": event.number, "child": event.child, "reason": event.reason, "stages": event.stages}
    return replace(state, relations=replace(state.relations, attempts={**state.relations.attempts, "chosen": chosen}))


def _rank(row: Json) -> tuple[float, int, int]:
    return -_score(row), cast("int", row.get("lines") or 0), cast("int", row.get("number") or 0)


def _score(row: Json) -> float:
    score = row.get("score")
    return float(score) if isinstance(score, (int, float)) else 1.0


def _rows(state: RunState) -> list[Json]:
    rows = state.relations.attempts.get("rows")
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, (list, tuple)) else []
