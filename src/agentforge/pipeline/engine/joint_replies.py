"""Replies that serve more than one stage: artifacts handed in together, and reading done for the stage that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.effects import TakeCalls
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.revisits import is_open
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage, action_of
from agentforge.tools.base import Tool

SUBMIT = "submit_artifact"


def stages_ahead(stage: Stage, state: RunState, runtime: Runtime) -> tuple[Stage, ...]:
    """Return the stages whose drafts the current reply may hold, too, in their order.

    Each must be needed for the request and be done by the same model, with nothing added between; and nobody may want to look at
    an artifact before the next one is made.
    """
    if not stage.ahead or not _may_join(stage, state, runtime):
        return ()
    found: list[Stage] = []
    for name in stage.ahead:
        if not _joins(stage, name, state, runtime):
            break
        found.append(runtime.stages[name])
    return tuple(found)


def stage_behind(stage: Stage, state: RunState, runtime: Runtime) -> str:
    """Name the stage whose calls may stand behind the submission of the current reply; "" where each needs its own.

    They wait until that stage begins: what it had before, or several attempts at it, would not be what they were written for.
    """
    name = stage.followed_by
    if not name or not _may_join(stage, state, runtime) or is_open(state):
        return ""
    several = state.brief.candidates > 1 and state.brief.candidates_from == name and not state.identity.candidate
    if several or state.review.kept.get(name) or not _joins(stage, name, state, runtime):
        return ""
    return name


def _may_join(stage: Stage, state: RunState, runtime: Runtime) -> bool:
    """Whether one reply may serve several stages in this run."""
    alone = state.brief.mode != "autonomous" or bool(state.brief.tests) or bool(state.people.answers)
    return not alone and profile_of(state).joins_replies and runtime.guests(stage.name) is None


def _joins(stage: Stage, name: str, state: RunState, runtime: Runtime) -> bool:
    """Whether the same model does a later stage, the request needs it, and nobody looks at anything in between."""
    order = list(runtime.stages)
    between = order[order.index(stage.name) : order.index(name)] if name in order else []
    if not between or any(one in state.brief.approve or runtime.stages[one].after for one in between):
        return False
    unneeded = bool(action_of(state)) and action_of(state) not in runtime.stages[name].actions
    return (
        not unneeded and runtime.guests(name) is None and runtime.models(name).name == runtime.models(stage.name).name
    )


def calls_waiting(state: RunState, stage: str) -> TakeCalls | None:
    """Begin a stage with the calls that an earlier reply holds for it; None where there are none, or it has begun."""
    known = state.progress.stages[stage]
    begun = known.attempt != known.since + 1 or state.progress.turn.steps_in_attempt or state.review.findings
    return None if begun or not state.review.behind.get(stage) else TakeCalls(stage=stage)


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
