"""What a reply holds that has to wait.

A submission beside a call that was not carried out was meant for another workspace: it is kept and not measured. Calls behind the
submission, up to another one, are for the stage that follows: they are kept until it begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.agent.spec import AgentSpec
from agentforge.contracts.draft import overlaid
from agentforge.events.kinds import ToolFinished
from agentforge.events.state.attempt import Call
from agentforge.events.state.run_state import RunState
from agentforge.safety.policy.path_policy import SCRATCH
from agentforge.safety.shell.grammar.command_reader import read_line
from agentforge.safety.shell.grammar.syntax import ShellCommand
from agentforge.safety.shell.programs.classes import CommandClass, Judged
from agentforge.safety.shell.programs.classification import classify
from agentforge.tools.base import Observation, Tool, ToolContext, ToolError, failed
from agentforge.tools.dispatch.invocation import Prepared

_CHANGING = (CommandClass.WRITE, CommandClass.DESTRUCTIVE)
_LOOKING = (CommandClass.READ_ONLY, CommandClass.GIT_READ, CommandClass.TEST, CommandClass.BUILD)
_SCRATCH = tuple(f"{folder}/" for folder in SCRATCH)
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
"""What may be the path of a file in the text of a program."""


def is_behind(calls: Sequence[Call], index: int, spec: AgentSpec) -> bool:
    """Whether a call is for the stage behind this one.

    It stands between the submissions of both, or is the second one; or it writes, behind the submission of this stage, what this
    stage may not.
    """
    submits = [place for place, call in enumerate(calls) if _submits(call, spec)]
    if len(submits) > 1:
        return submits[0] < index <= submits[-1]
    return bool(submits) and submits[0] < index and _writes_elsewhere(calls[index], spec)


def _writes_elsewhere(call: Call, spec: AgentSpec) -> bool:
    """Whether a call names a file to write that is outside of what this stage may write."""
    tool = spec.tools.get(call.name)
    if tool is None or tool.effect != "write":
        return False
    try:
        given = json.loads(call.arguments)
        paths = tool.writes(given) if isinstance(given, Mapping) else ()
    except (ValueError, RecursionError, ToolError):
        return False
    return any(spec.tool_context.may_write(path) is not None for path in paths)


def _submits(call: Call, spec: AgentSpec) -> bool:
    tool = spec.tools.get(call.name)
    return tool is not None and tool.effect == "submit"


def refused_call(state: RunState, spec: AgentSpec) -> ToolFinished | None:
    """The first call of the reply so far that was to change the workspace and did not; None where all is as it was meant.

    A command that failed or was refused, such as a test run or a trial, says nothing of the kind, unless it is one that writes.
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
    return _changes_files(call, tool, spec.tool_context, ran=error_type == "exit-code")


def _writes(tool: Tool) -> bool:
    return tool.effect == "write" or tool.does == "write"


def _changes_files(call: Call, tool: Tool, context: ToolContext, *, ran: bool) -> bool:
    """Whether a command writes files of the workspace, or a program in it names one that the stage may write.

    Args:
        ran: it was carried out and ended with an error.
    """
    try:
        given = json.loads(call.arguments)
    except ValueError:
        return not ran
    line = tool.command(given)[0] if isinstance(given, Mapping) else ""
    if not line:
        return not ran
    commands = read_line(line).commands
    program = any(one.inline for one in commands) and _names_a_file(line, context)
    return program or any(_writes_here(one, ran=ran) for one in commands)


def _names_a_file(text: str, context: ToolContext) -> bool:
    """Whether a text holds the path of a file of the workspace that the stage may write: who only tries something need not."""
    return any(_is_file(context.root / path) and context.may_write(path) is None for path in set(_PATH.findall(text)))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long for a name
        return False


def _writes_here(command: ShellCommand, *, ran: bool) -> bool:
    """Whether a command writes outside of the folders for trials; of one that did not run, whether it may."""
    if all(one is not None and f"{one}/".startswith(_SCRATCH) for one in command.folders):
        return False
    if any(one.writes and not one.target.known.startswith((*_SCRATCH, "/dev/")) for one in command.redirects):
        return True
    return any(_may_write(one, command, ran=ran) for one in classify(replace(command, assignments=(), exported=())))


def _may_write(judged: Judged, command: ShellCommand, *, ran: bool) -> bool:
    if judged.kind in _CHANGING:
        return not judged.writes or any(not one.known.startswith((*_SCRATCH, "/dev/")) for one in judged.writes)
    if ran or judged.kind in _LOOKING:
        return False
    tried = command.inline or any(word.known.startswith(_SCRATCH) for word in command.words)
    return not (judged.kind is CommandClass.RUN and tried)


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
