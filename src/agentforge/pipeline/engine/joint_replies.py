"""Replies that serve more than one stage: artifacts handed in together, and reading done for the stage that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage, action_of
from agentforge.tools.base import Tool

SUBMIT = "submit_artifact"


def stages_ahead(stage: Stage, state: RunState, runtime: Runtime) -> tuple[Stage, ...]:
    """Return the stages whose drafts the current reply may hold, too, in their order.

    Each must be needed for the request and be done by the same model, with nothing added between; and nobody may want to look at
    an artifact before the next one is made.
    """
    if state.brief.mode != "autonomous" or state.brief.tests or state.people.answers:
        return ()
    if not stage.ahead or not profile_of(state).joins_replies or runtime.guests(stage.name) is not None:
        return ()
    order, model = list(runtime.stages), runtime.models(stage.name).name
    here = order.index(stage.name)
    found: list[Stage] = []
    for name in stage.ahead:
        between = order[here : order.index(name)] if name in order else []
        if not between or any(one in state.brief.approve or runtime.stages[one].after for one in between):
            break
        following = runtime.stages[name]
        unneeded = bool(action_of(state)) and action_of(state) not in following.actions
        if unneeded or runtime.guests(name) is not None or runtime.models(name).name != model:
            break
        found.append(following)
    return tuple(found)


def with_ahead(tools: Mapping[str, Tool], ahead: tuple[Stage, ...]) -> dict[str, Tool]:
    """Let `submit_artifact` take the drafts of the stages ahead as more arguments."""
    if not ahead or SUBMIT not in tools:
        return dict(tools)
    submit = tools[SUBMIT]
    known = submit.parameters.get("properties")
    properties = {**(known if isinstance(known, Mapping) else {}), **{one.name: {"type": "object"} for one in ahead}}
    return {**tools, SUBMIT: replace(submit, parameters={**submit.parameters, "properties": properties})}


def reads_for_the_next(stage: str, state: RunState, stages: Mapping[str, Stage]) -> bool:
    """Whether a stage that has passed leaves something read that the contexts of the next one show."""
    order = list(stages)
    following = stages.get(next(iter(order[order.index(stage) + 1 :]), ""))
    if following is None or not following.keeps_reading:
        return False
    return any(result.name != SUBMIT for step in state.progress.turn.recent for result in step.results)
