"""Two artifacts in one reply: a stage whose model may hand in the draft of the next stage together with its own.

The draft waits in the state until its stage begins, and is verified there like any other; when it is refused, that stage asks
its model as usual. A call saved is a whole context saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage, action_of
from agentforge.tools.base import Tool

_SUBMIT = "submit_artifact"


def stage_ahead(stage: Stage, state: RunState, runtime: Runtime) -> Stage | None:
    """Return the stage whose draft the current reply may hold, too; None where it must be asked for on its own.

    It must stand directly behind this one, be needed for the request, be done by the same model, and nobody may want to look at
    the first artifact before the second is made.
    """
    if not stage.ahead or stage.name in state.approve or state.mode != "autonomous":
        return None
    if state.profile or state.workflow or state.tests or state.answers:
        return None
    order = list(runtime.stages)
    if order[order.index(stage.name) + 1 :][:1] != [stage.ahead]:
        return None
    following = runtime.stages[stage.ahead]
    same_model = runtime.models(stage.name).name == runtime.models(following.name).name
    return (
        following
        if same_model and runtime.guests(following.name) is None and action_of(state) in following.actions
        else None
    )


def with_ahead(tools: Mapping[str, Tool], ahead: Stage | None) -> dict[str, Tool]:
    """The tools of a stage, where `submit_artifact` takes the draft of the stage ahead as one more argument."""
    if ahead is None or _SUBMIT not in tools:
        return dict(tools)
    submit = tools[_SUBMIT]
    properties = {**_properties(submit), ahead.name: {"type": "object"}}
    return {**tools, _SUBMIT: replace(submit, parameters={**submit.parameters, "properties": properties})}


def _properties(tool: Tool) -> dict[str, object]:
    value = tool.parameters.get("properties")
    return dict(value) if isinstance(value, Mapping) else {}
