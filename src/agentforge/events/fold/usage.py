"""What a run used: time, tokens and money, the pace of it, and what limits it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import cast

from agentforge.events import kinds
from agentforge.events.kinds import Event, ModelReplied
from agentforge.events.state.attempt import StageState
from agentforge.events.state.run_state import Limits, RunState, Spent

_MAX_COUNTED_GAP_S = 3600.0
_AFTER_A_PAUSE = (
    kinds.RunResumed,
    kinds.LogRecovered,
    kinds.EscalationResolved,
    kinds.RunForked,
    kinds.ForkMade,
    kinds.RunMarked,
    kinds.NotificationSent,
)


def gap_s(state: RunState, event: Event, at: str) -> float:
    """Seconds since the last event; none while nobody drove the run, none when the clock was set back."""
    if not state.progress.last_at or isinstance(event, _AFTER_A_PAUSE) or state.people.open_escalations:
        return 0.0
    gap = (datetime.fromisoformat(at) - datetime.fromisoformat(state.progress.last_at)).total_seconds()
    return min(max(gap, 0.0), _MAX_COUNTED_GAP_S)


def limits_from(value: Mapping[str, object], base: Limits | None = None) -> Limits:
    """Limits with the fields of `value` set; unknown names are ignored (an older program reads a newer log)."""
    known = {item.name for item in fields(Limits)}
    return replace(base or Limits(), **cast("dict[str, int]", {k: v for k, v in value.items() if k in known}))


_WINDOW_S = 60.0
_MOST_KEPT = 200

SpentLately = tuple[str, int, float]


def spent_lately(known: tuple[SpentLately, ...], *, at: str, tokens: int, usd: float) -> tuple[SpentLately, ...]:
    """Add what a reply used, and forget what is older than a minute.

    Args:
        at: time stamp of the reply, ISO 8601 in UTC.
    """
    kept = (*(item for item in known if _is_recent(item, at)), (at, tokens, usd))
    if len(kept) <= _MOST_KEPT:
        return kept
    first, second, *rest = kept  # counted as late as the second: too strict for a moment, never too lenient
    return ((second[0], first[1] + second[1], first[2] + second[2]), *rest)


def rate(state: RunState) -> tuple[int, float]:
    """Sum up the minute before the last event of the run.

    Returns:
        Tokens, US dollars.
    """
    recent = [item for item in state.usage.lately if _is_recent(item, state.progress.last_at)]
    return sum(item[1] for item in recent), sum(item[2] for item in recent)


def _is_recent(item: SpentLately, now: str) -> bool:
    """Within the minute; a clock that was set back makes nothing old."""
    return (datetime.fromisoformat(now) - datetime.fromisoformat(item[0])).total_seconds() < _WINDOW_S


def spent_with(state: RunState, event: ModelReplied, usage: Mapping[str, int]) -> dict[str, Spent]:
    """The sums of a run with one more reply.

    Args:
        usage: of the reply, by the names of `messages.Usage`.
    """
    attempt = state.progress.stages.get(state.progress.stage, StageState()).attempt
    key = f"{state.progress.stage} {attempt} {event.model}"
    old = state.usage.spending.get(key) or Spent(stage=state.progress.stage, attempt=attempt, model=event.model)
    spent = replace(
        old,
        calls=old.calls + 1,
        requests=old.requests + event.requests,
        prompt_tokens=old.prompt_tokens + usage.get("prompt_tokens", 0),
        cached_tokens=old.cached_tokens + usage.get("cached_tokens", 0),
        cache_write_tokens=old.cache_write_tokens + usage.get("cache_write_tokens", 0),
        completion_tokens=old.completion_tokens + usage.get("completion_tokens", 0),
        cost_usd=old.cost_usd + (event.cost_usd or 0.0),
        unpriced=old.unpriced + (event.cost_usd is None),
    )
    return {**state.usage.spending, key: spent}
