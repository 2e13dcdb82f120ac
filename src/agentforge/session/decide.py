"""What a conversation can want done, and what it does next. Pure; the only place that says how a turn ends."""

from __future__ import annotations

from agentforge.agent import STOP_AFTER, CallModel, Effect, FinishStep, RunTool, exhausted, repetitions
from agentforge.context.conversation import Budget, compactable
from agentforge.events.kinds.conversation import TurnOutcome
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTurn(Effect):
    """The turn is over."""

    outcome: TurnOutcome
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact(Effect):
    """Replace the oldest entries of the history by a summary."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTogether(Effect):
    """Carry out several calls of the reply at the same time: subagents.

    Attributes:
        indices: positions in the reply, one after the other.
    """

    indices: tuple[int, ...]


SPAWNS = "subagent_"
"""How the names of tools begin that start a subagent; several in one reply run side by side."""

_EMPTY_REPLIES = 2
_CUT_OFF = "max_output_tokens: the answer was cut off at the output limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRules:
    """What bounds a turn.

    Attributes:
        max_turns: model calls for one message of the user.
        stop_loops: repetitions of the same calls with the same results after which the turn ends; 0 = never.
        budget: of a request.
        fixed: tokens of a request beside its history.
    """

    max_turns: int
    budget: Budget
    fixed: int
    stop_loops: int = STOP_AFTER


def decide(state: RunState, rules: TurnRules) -> Effect | None:
    """Return the next effect of an open turn, None when no turn is open."""
    if not state.talk.open:
        return None
    turn = state.progress.turn
    if turn.replied:
        return _after_reply(state)
    if turn.silent_steps and not _said_nothing(state):
        return EndTurn(outcome="limit", reason=_CUT_OFF) if turn.finish == "length" else EndTurn(outcome="completed")
    if turn.silent_steps > _EMPTY_REPLIES:
        return EndTurn(outcome="failed", reason=f"the model answered {turn.silent_steps} times with nothing")
    stop = _stop(state, rules)
    if stop is not None:
        return stop
    if compactable(state.talk, budget=rules.budget, fixed=rules.fixed) is not None:
        return Compact(reason="budget")
    return CallModel(step=turn.step if turn.calling else turn.step + 1)


def _after_reply(state: RunState) -> Effect:
    turn = state.progress.turn
    left = turn.calls[turn.done :]
    if not left:
        return FinishStep(step=turn.step)
    together = 0
    while together < len(left) and left[together].name.startswith(SPAWNS):
        together += 1
    if together > 1 and not turn.started:
        return RunTogether(indices=tuple(range(turn.done, turn.done + together)))
    return RunTool(index=turn.done, in_doubt=turn.started)


def _said_nothing(state: RunState) -> bool:
    """The last reply held neither text nor a call."""
    last = state.talk.entries[-1] if state.talk.entries else None
    return last is None or last.kind != "assistant"


def _stop(state: RunState, rules: TurnRules) -> EndTurn | None:
    turn = state.progress.turn
    limit = exhausted(state)
    if limit:
        return EndTurn(outcome="limit", reason=limit)
    if turn.steps_in_attempt >= rules.max_turns:
        return EndTurn(outcome="limit", reason=f"max_turns: {turn.steps_in_attempt} model calls for one message")
    if rules.stop_loops and repetitions(turn.loop) >= rules.stop_loops:
        return EndTurn(outcome="stuck", reason="the model repeats the same calls with the same results")
    return None
