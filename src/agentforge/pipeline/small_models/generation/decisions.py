"""What the road of small models wants done between the stages. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentforge.agent.effects import Effect
from agentforge.events.kinds.choices import ABORT, OWN_WORDS, fixed
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.effects import Ask, MeasurePlaces
from agentforge.pipeline.model.stage import texts
from agentforge.pipeline.small_models.generation.units import oracle
from agentforge.pipeline.small_models.reading.request_parser import FAILING
from agentforge.pipeline.small_models.refactoring.requests import WHICH, choice_of
from agentforge.verification.examples.claims import Claim

_SHOWN = 3


def places_first(state: RunState, _order: Sequence[str] = ()) -> Effect | None:
    """Before the analysis: where the work is. A project that the road cannot work in is a person's to decide about."""
    places = state.work.facts.get("places")
    if places is None:
        return MeasurePlaces()
    problem = str(places.get("problem") or "")
    if not problem and state.brief.grade.get("function") is False:
        problem = f"{state.brief.model} was graded on this machine as not able to write functions"
    if not problem:
        return None
    if texts(places.get("choices")):
        return _which(state, problem, texts(places.get("choices")), str(places.get("chosen") or ""))
    if "choices" in places:
        return _by_hand(problem)
    return Ask(
        stage="analyze",
        kind="stuck",
        reason=problem,
        question='A larger model may do it. Answer `abort` here, and start again with --model, or with [model] profile = "full".',
        options=("abort",),
        choices=(ABORT,),
    )


def _by_hand(problem: str) -> Effect:
    """The tree alone cannot make the change: what stands in its way is a person's to settle."""
    return Ask(
        stage="analyze",
        kind="stuck",
        reason=problem,
        question="Answer `abort` here and settle that first. Or start again with a request that says it exactly, or with "
        'a larger model (--model, [model] profile = "full").',
        options=("abort",),
        choices=(ABORT,),
    )


def one_that_fails(state: RunState) -> Effect | None:
    """Ask for an example that fails today, where every one of the request holds; None when RED failed for another reason."""
    held = [claim for claim in oracle(state) if claim.asked]
    if not held or not any(item.get("rule") == "has-target" for item in state.review.findings):
        return None
    told = [f"`{one.call}` {f'raises {one.raises}' if one.raises else f'gives {one.returns}'}" for one in held]
    shown = ", ".join(told[:_SHOWN]) + (f" and {len(told) - _SHOWN} more hold" if len(told) > _SHOWN else "")
    says = "as the example says" if len(told) == 1 else "as the examples say"
    return Ask(
        stage="red",
        kind="stuck",
        reason="every example of the request holds at the base already",
        question=f"{shown} today, {says}. Which call gives a wrong value? Answer like this: {_like(held[0])}",
        choices=(replace(OWN_WORDS, then="Your example becomes a test, and the task continues with it."), ABORT),
        context=(("key", FAILING), ("attempt", state.progress.stages["red"].attempt)),
    )


def _like(claim: Claim) -> str:
    """An example of the form of an answer."""
    return f"{claim.call.partition('(')[0]}(...) -> ..."


def _which(state: RunState, problem: str, choices: list[str], chosen: str) -> Effect:
    """Ask which of several things is meant; once somebody has said it, look again."""
    answer = choice_of(state)
    if answer in choices and answer != chosen:
        return MeasurePlaces()
    reason = "the request names something that is defined in several places"
    return Ask(
        stage="analyze",
        kind="question",
        reason=reason,
        question=problem,
        options=tuple(choices),
        context=(("key", WHICH),),
        choices=tuple(fixed(text, "The task continues with this one.") for text in choices),
    )
