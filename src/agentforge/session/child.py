"""The turn of a subagent: the same loop as its parent's, stopped by its parent's limits and by its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentforge.agent.drive import Log, drive
from agentforge.agent.effects import CallModel, Effect
from agentforge.cancelling import check
from agentforge.session.decide import decide
from agentforge.session.effects import EndTurn
from agentforge.session.performer import SessionPerformer

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState
    from agentforge.session.runtime import SessionRuntime


def run_child_turn(log: Log, runtime: SessionRuntime, *, forbids: Callable[[RunState], str]) -> RunState:
    """Drive the open turn of a subagent to its end.

    Args:
        forbids: asked before every model call: why the limits of the whole run allow no more, "" = go on.
    Raises:
        KeyboardInterrupt: it was stopped, or its time is over.
        AgentForgeError: the harness or the model failed.
    """
    performer = SessionPerformer(runtime)

    def next_effect(state: RunState) -> Effect | None:
        check()
        effect = decide(state, runtime.rules())
        reason = forbids(state) if isinstance(effect, CallModel) else ""
        return EndTurn(outcome="limit", reason=reason) if reason else effect

    return drive(log, next_effect, performer.perform)
