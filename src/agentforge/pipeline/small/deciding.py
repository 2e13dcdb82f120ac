"""What the road of small models wants done between the stages. Pure."""

from __future__ import annotations

from agentforge.agent.effects import Effect
from agentforge.events.state import RunState
from agentforge.pipeline.effects import Ask, MeasurePlaces
from agentforge.pipeline.small.mechanical import WHICH, choice_of
from agentforge.pipeline.stage import texts


def places_first(state: RunState) -> Effect | None:
    """Before the analysis: where the work is. A project that the road cannot work in is a person's to decide about."""
    if not state.profile:
        return None
    places = state.facts.get("places")
    if places is None:
        return MeasurePlaces()
    problem = str(places.get("problem") or "")
    if not problem and state.grade.get("function") is False:
        problem = f"{state.model} was graded on this machine as not able to write functions"
    if not problem:
        return None
    if texts(places.get("choices")):
        return _which(state, problem, texts(places.get("choices")), str(places.get("chosen") or ""))
    return Ask(
        stage="analyze",
        kind="stuck",
        reason=problem,
        question='Go on with a larger model (start again with --model, or [model] profile = "full"), and answer `abort` here.',
        options=("abort",),
    )


def _which(state: RunState, problem: str, choices: list[str], chosen: str) -> Effect:
    """Ask which of several things is meant; once somebody has said it, look again."""
    answer = choice_of(state)
    if answer in choices and answer != chosen:
        return MeasurePlaces()
    reason = "the request names something that stands in several places"
    return Ask(
        stage="analyze",
        kind="question",
        reason=reason,
        question=problem,
        options=tuple(choices),
        context=(("key", WHICH),),
    )
