"""What the agent loop can want done, and what it does next. Pure."""

from __future__ import annotations

from agentforge.agent.limits import STOP_AFTER, exhausted, repetitions
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Base of everything that `decide` may return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel(Effect):
    """Ask the model for step `step`; the same number again when a crash left its request without an answer."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTool(Effect):
    """Carry out call `index` of the current reply.

    Attributes:
        in_doubt: the call was begun by a process that died; how it is settled depends on the tool's effect.
        refusal: not empty: a human refused the step; the call is answered with these words and not carried out.
    """

    index: int
    in_doubt: bool
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishStep(Effect):
    """All calls of the reply are done: take the snapshot and close the step."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Effect):
    """The loop cannot go on by itself: `kind` as in EscalationRaised."""

    kind: str
    reason: str
    question: str


SILENT_LIMIT = 4
"""Replies in a row without a tool call before a human is asked."""

_MUTATING = frozenset(
    {"write_file", "append_file", "edit", "apply_patch", "move_file", "refactor", "shell", "write_definition", "agent"}
)


def decide_turn(state: RunState) -> Effect:
    """Return the next effect of the loop inside a stage that waits for its artifact."""
    turn = state.progress.turn
    if turn.replied:
        return _after_reply(state)
    stop = _stop(state)
    if stop is not None:
        return stop
    return CallModel(step=turn.step if turn.calling else turn.step + 1)


def _after_reply(state: RunState) -> Effect:
    turn = state.progress.turn
    if turn.done >= len(turn.calls):
        return FinishStep(step=turn.step)
    approval = step_approval(state)
    mutating = any(call.name in _MUTATING for call in turn.calls)
    if approval is None and state.brief.mode == "interactive" and mutating:
        plan = "; ".join(f"{call.name} {call.arguments[:160]}" for call in turn.calls)
        return Stop(kind="approval", reason=f"step {turn.step} wants to change the workspace", question=plan)
    if approval is not None and approval.resolution is not None and approval.resolution.decision == "reject":
        words = approval.resolution.text or "no reason given"
        return RunTool(index=turn.done, in_doubt=False, refusal=f"the human refused this step: {words}")
    return RunTool(index=turn.done, in_doubt=turn.started)


def step_approval(state: RunState) -> Escalation | None:
    """The approval that was asked for the current step, None when it was not asked yet."""
    for item in reversed(tuple(state.people.escalations.values())):
        if item.kind == "approval" and item.context.get("step") == state.progress.turn.step:
            return item
    return None


def _stop(state: RunState) -> Stop | None:
    turn = state.progress.turn
    limit = exhausted(state)
    if limit:
        return Stop(kind="limit", reason=limit, question="Raise the limit and continue, or abort?")
    if turn.silent_steps >= SILENT_LIMIT:
        return Stop(
            kind="stuck",
            reason=f"the model answered {turn.silent_steps} times without calling a tool",
            question="What should it do? Or choose another model and resume.",
        )
    if repetitions(turn.loop) >= STOP_AFTER:
        return Stop(
            kind="stuck",
            reason="the model repeats the same calls with the same results",
            question="What is it missing?",
        )
    if turn.steps_in_attempt >= state.brief.limits.stage_steps:
        return Stop(
            kind="stuck",
            reason=f"{turn.steps_in_attempt} steps without a result in stage {state.progress.stage}",
            question="How should this stage be done?",
        )
    return None
