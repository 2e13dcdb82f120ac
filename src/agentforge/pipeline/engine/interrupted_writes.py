"""Writes of the step that was interrupted, done again in a worktree that was made anew from the snapshot before it."""

from __future__ import annotations

from dataclasses import replace

from agentforge.errors import IntegrityError
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.stage_agent import agent_spec
from agentforge.pipeline.model.runtime import Runtime
from agentforge.tools.base import Observation
from agentforge.tools.dispatch.invocation import perform_call, prepare_call
from agentforge.workspace.files.file_access import digest_file


def redo_step(state: RunState, runtime: Runtime) -> None:
    """Carry out the finished writes of the current step once more: no snapshot holds them yet.

    Raises:
        IntegrityError: a file does not come out as it was recorded.
    Side effects: files of the worktree.
    """
    done = [result for result in state.turn.results if result.changed]
    if not done or not state.stage:
        return

    spec = agent_spec(state, runtime, ())
    context = replace(spec.tool_context, seen={})  # what the model saw was the state before these writes
    root = context.root
    for result in done:
        call = state.turn.calls[result.index]
        prepared = prepare_call(call.name, call.arguments, tools=spec.tools, context=context, policy=spec.policy)
        if not isinstance(prepared, Observation):
            perform_call(prepared, context=context, policy=replace(spec.policy, hooks=None))
    wanted = {path: digest for result in done for path, digest in result.changed.items()}
    for path, digest in wanted.items():
        now = digest_file(root / path) if (root / path).is_file() else ""
        if now != digest:
            raise IntegrityError(
                f"step {state.turn.step} cannot be repeated: {path} does not come out as recorded",
                hint="the worktree was lost in the middle of this step; go back with: agentforge fork",
            )
