"""What a reply holds that has to wait.

A submission beside a call that was not carried out was meant for another workspace: it is kept and not measured. Calls behind the
submission, up to another one, are for the stage that follows: they are kept until it begins.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agentforge.agent.spec import AgentSpec
from agentforge.contracts.draft import overlaid
from agentforge.events.kinds import ToolFinished
from agentforge.events.state.attempt import Call
from agentforge.events.state.run_state import RunState
from agentforge.safety.shell.grammar.command_reader import read_line
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.safety.shell.programs.classification import classify
from agentforge.tools.base import Observation, Tool, failed
from agentforge.tools.dispatch.invocation import Prepared

_CHANGING = (CommandClass.WRITE, CommandClass.DESTRUCTIVE)


def is_behind(calls: Sequence[Call], index: int, spec: AgentSpec) -> bool:
    """Whether a call stands between the submission of this stage and that of the next one, or is that one."""
    submits = [place for place, call in enumerate(calls) if _submits(call, spec)]
    return len(submits) > 1 and submits[0] < index <= submits[-1]


def _submits(call: Call, spec: AgentSpec) -> bool:
    tool = spec.tools.get(call.name)
    return tool is not None and tool.effect == "submit"


def refused_call(state: RunState, spec: AgentSpec) -> ToolFinished | None:
    """The first call of the reply so far that was to change the workspace and did not; None where all is as it was meant.

    A command that ran and failed, such as a test run, says nothing of the kind, unless it is one that writes.
    """
    turn = state.progress.turn
    for result in turn.results:
        if result.status != "success" and _was_to_change(result, turn.calls[result.index], spec):
            return result
    return None


def spoils(call: Call, observation: Observation, state: RunState, spec: AgentSpec) -> bool:
    """Whether a call that comes behind the submission of its reply was to change the workspace and did not."""
    submission = state.review.submission
    if observation.status == "success" or submission is None or submission.by != "model":
        return False
    return _misses(call, observation.error_type, spec.tools.get(call.name), spec)


def _was_to_change(result: ToolFinished, call: Call, spec: AgentSpec) -> bool:
    return _misses(call, result.error_type, spec.tools.get(result.name), spec)


def _misses(call: Call, error_type: str | None, tool: Tool | None, spec: AgentSpec) -> bool:
    if not any(_writes(one) for one in spec.tools.values()):
        return False
    if tool is None or _writes(tool):
        return True
    if tool.effect != "execute" or tool.does == "test":
        return False
    if (
        error_type == "out-of-scope"
    ):  # it ran, and only what is not this stage's was put back: measuring tells whether that matters
        return False
    return error_type != "exit-code" or _changes_files(call, tool)


def _writes(tool: Tool) -> bool:
    return tool.effect == "write" or tool.does == "write"


def _changes_files(call: Call, tool: Tool) -> bool:
    """Whether a command is one that writes files, or a program that stands in the command itself."""
    try:
        given = json.loads(call.arguments)
    except ValueError:
        return False
    line = tool.command(given)[0] if isinstance(given, Mapping) else ""
    if "<<" in line:
        return True
    return any(judged.kind in _CHANGING for command in read_line(line).commands for judged in classify(command))


def not_submitted(refused: ToolFinished) -> Observation:
    """What the model is told of a submission that is kept."""
    return failed(
        f"not submitted, because an earlier call of this reply failed ({refused.name}); the submission is kept",
        error_type="incomplete",
        text=f"{refused.summary}\nNothing was measured. Your submission is kept as it is.",
        next_actions=(
            "repeat the failed call correctly, then submit_artifact with the fields that change, {} if none does",
        ),
    )


def kept_draft(prepared: Prepared, state: RunState) -> Mapping[str, object]:
    """The submission of a call that is not handed in: {draft, ahead}."""
    given = prepared.arguments
    draft = given.get("artifact")
    if state.identity.kind != "task" or not isinstance(draft, Mapping):
        return {}
    ahead = {name: value for name, value in given.items() if name != "artifact" and isinstance(value, Mapping)}
    return {"draft": overlaid(state.review.rejected or {}, draft), "ahead": ahead}
