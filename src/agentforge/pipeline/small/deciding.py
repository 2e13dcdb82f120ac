"""What the road of small models wants done between the stages. Pure."""

from __future__ import annotations

from agentforge.agent.effects import Effect
from agentforge.events.state import RunState
from agentforge.pipeline.effects import Ask, MeasurePlaces


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
    return Ask(
        stage="analyze",
        kind="stuck",
        reason=problem,
        question='Go on with a larger model (start again with --model, or [model] profile = "full"), and answer `abort` here.',
        options=("abort",),
    )
