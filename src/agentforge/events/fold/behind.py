"""Calls that a reply holds for a later stage: they wait, and that stage begins with them."""

from __future__ import annotations

from dataclasses import replace

from agentforge.events import kinds
from agentforge.events.state.attempt import Call
from agentforge.events.state.run_state import RunState


def calls_kept(state: RunState, event: kinds.CallsKept, _at: str) -> RunState:
    """The rest of the reply waits, in the place of what waited before; the step has nothing more to do."""
    turn = state.progress.turn
    waiting = {**state.review.behind, event.stage: turn.calls[event.index :]}
    return replace(
        state,
        progress=replace(state.progress, turn=replace(turn, done=len(turn.calls))),
        review=replace(state.review, behind=waiting),
    )


def calls_taken(state: RunState, event: kinds.CallsTaken, _at: str) -> RunState:
    """The stage has a reply before its model was asked; nothing waits for it any more."""
    calls = tuple(
        Call(call_id=str(call["call_id"]), name=str(call["name"]), arguments=str(call["arguments"]))
        for call in event.calls
    )
    turn = state.progress.turn
    turn = replace(
        turn,
        step=event.step,
        replied=True,
        finish="tool_calls",
        calls=calls,
        done=0,
        results=(),
        steps_in_attempt=turn.steps_in_attempt + 1,
    )
    waiting = {name: calls for name, calls in state.review.behind.items() if name != event.stage}
    return replace(state, progress=replace(state.progress, turn=turn), review=replace(state.review, behind=waiting))
