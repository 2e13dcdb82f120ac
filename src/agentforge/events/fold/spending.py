"""What was asked of models, summed by stage, attempt and model. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentforge.events.kinds import ModelReplied
from agentforge.events.state.run_state import RunState, Spent, StageState


def spent_with(state: RunState, event: ModelReplied, usage: Mapping[str, int]) -> dict[str, Spent]:
    """The sums of a run with one more reply.

    Args:
        usage: of the reply, by the names of `messages.Usage`.
    """
    attempt = state.stages.get(state.stage, StageState()).attempt
    key = f"{state.stage} {attempt} {event.model}"
    old = state.spending.get(key) or Spent(stage=state.stage, attempt=attempt, model=event.model)
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
    return {**state.spending, key: spent}
