"""How many attempts a stage has: counted anew from every answer of a human, and when he has it done again. Pure."""

from __future__ import annotations

from agentforge.events.state.run_state import Escalation, RunState


def attempts_allowed(state: RunState, stage: str, *, by_model: bool) -> int:
    """The number of the last attempt before a human is asked (again)."""
    answered = [item.context.get("attempt") for item in stuck_and_answered(state, stage)]
    since = state.stages[stage].since if stage in state.stages else 0
    before = max((number for number in answered if isinstance(number, int)), default=0)
    before = max(before, since)
    if not by_model:  # nobody would do it differently the second time
        return before + 1
    # What was laid back and measured again is no attempt of the model.
    again = before == since and state.kept.get(stage, {}).get("measured") is True
    return before + state.limits.attempts + again


def stuck_and_answered(state: RunState, stage: str) -> list[Escalation]:
    """How a stage was stuck and a human said how to go on."""
    return [
        item for item in state.escalations.values() if item.stage == stage and item.kind == "stuck" and item.resolution
    ]
