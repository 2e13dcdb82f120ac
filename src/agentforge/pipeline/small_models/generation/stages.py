"""The ordinary stages, cut down for small models: what a person or the tree can say is not asked of the model. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agentforge.agent import Effect
from agentforge.events.kinds.choices import ABORT, OWN_WORDS, fixed
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.effects import Ask, MeasurePlaces
from agentforge.pipeline.model.stage import Json, Stage, StageQuestion, items, texts
from agentforge.pipeline.small_models.generation import drafts
from agentforge.pipeline.small_models.generation.units import PLACE_QUESTION, oracle, place_by_person, scenes, units_of
from agentforge.pipeline.small_models.reading.bug_reports import is_report, report_draft, report_questions
from agentforge.pipeline.small_models.reading.request_parser import FAILING, claims_of_request, confirmed_claims
from agentforge.pipeline.small_models.reading.unverified_wishes import questions_beside
from agentforge.pipeline.small_models.refactoring.requests import WHICH, choice_of
from agentforge.pipeline.small_models.refactoring.syntax_tree import by_tree
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


_MOST_ASKED = 3


def cut_down(stage: Stage) -> Stage:
    """The stage as the road of small models takes it; contract, facts and verdict stay what they are."""
    change = _CHANGES.get(stage.name)
    return change(stage) if change else stage


def _never(_state: RunState) -> bool:
    return False


def _intake(stage: Stage) -> Stage:
    return replace(stage, needs_model=_never, draft=drafts.intake_draft)


def _clarify(stage: Stage) -> Stage:
    return replace(stage, needs_model=_never)


def _analyze(stage: Stage) -> Stage:
    def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
        place = place_by_person(state)
        if is_report(state):
            return stage.complete(state, report_draft(state), facts)
        return stage.complete(state, drafts.analysis_draft(state, place) if place else draft, facts)

    return replace(
        stage,
        complete=complete,
        needs_model=_place_is_open,
        questions=_wanted_place,
        begins_with=(*stage.begins_with, places_first),
        draft=drafts.analysis_draft,
        tools=("submit_artifact",),
    )


def _spec(stage: Stage) -> Stage:
    def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
        asked = not drafts.has_oracle(state) or bool(confirmed_claims(state))
        told = drafts.spec_draft(state) if asked else draft
        return stage.complete(state, told, facts)

    return replace(
        stage,
        needs_model=lambda state: not drafts.has_oracle(state) and may(state, "examples"),
        draft=drafts.spec_draft,
        tools=("submit_artifact",),
        questions=lambda state: (*_wanted_examples(state), *questions_beside(state)),
        complete=complete,
    )


def _red(stage: Stage) -> Stage:
    return replace(
        stage,
        needs_model=_never,
        draft=lambda state: stage.draft(state) if state.brief.tests else drafts.suite_draft(state),
        on_stuck=one_that_fails,
    )


def _green(stage: Stage) -> Stage:
    def draft(state: RunState) -> dict[str, object]:
        change = by_tree(state)
        return {"files_modified": change.summaries} if change else stage.draft(state)

    return replace(
        stage,
        needs_model=lambda state: by_tree(state) is None and stage.needs_model(state),
        draft=draft,
        tools=("submit_artifact",),
    )


def _refactor(stage: Stage) -> Stage:
    return replace(stage, needs_model=_never)


def may(state: RunState, ability: str) -> bool:
    """Whether the model is asked for something: not when it was graded on this machine and could not do it."""
    return state.brief.grade.get(ability) is not False


def _place_is_open(state: RunState) -> bool:
    """Whether a model chooses among the options; what a report says is measured."""
    return (
        bool(items(state.work.facts.get("places", {}).get("options"))) and may(state, "place") and not is_report(state)
    )


def _wanted_place(state: RunState) -> tuple[StageQuestion, ...]:
    """A model that cannot choose a place is not asked for one: a person is."""
    if is_report(state):
        return report_questions(state)
    options = [str(row.get("place")) for row in items(state.work.facts.get("places", {}).get("options"))]
    if not options or may(state, "place"):
        return ()
    text = "Where does the change belong? Answer with one place of the list."
    reason = "the request does not name the place, and this model cannot choose one (that is the result of its grade)"
    return (StageQuestion(key=PLACE_QUESTION, text=text, reason=reason, options=tuple(options[:20])),)


def _wanted_examples(state: RunState) -> tuple[StageQuestion, ...]:
    """Without an oracle a person says what is right, before anything is written; asked again while nothing was understood."""
    if state.brief.tests or claims_of_request(state.brief.request) or scenes(state) or by_tree(state):
        return ()
    answered = [
        item
        for item in state.people.escalations.values()
        if item.stage == "spec" and "candidates" in item.context and item.resolution is not None
    ]
    if confirmed_claims(state) or len(answered) >= _MOST_ASKED:
        return tuple(_question(number, (), state) for number in range(1, len(answered) + 1))
    candidates = drafts.candidates_of(state)
    return tuple(_question(number, candidates, state) for number in range(1, len(answered) + 2))


def _question(number: int, candidates: tuple[str, ...], state: RunState) -> StageQuestion:
    units = ", ".join(unit.name for unit in units_of(state))
    rows = "\n".join(f"  {position}. {text}" for position, text in enumerate(candidates, 1))
    how = 'Answer "all", or numbers such as "1,3", or write your own: name(2) -> 4; name(-1) raises ValueError'
    listed = f"Which of these are right?\n{rows}\n" if rows else "Give one or two examples.\n"
    again = "The last answer held no example. " if number > 1 else ""
    return StageQuestion(
        key=f"examples:{number}",
        text=f"{again}The request has no example{f' of {units}' if units else ''}, so nobody knows what is right. {listed}{how}",
        reason="with a small model, AgentForge delivers nothing without examples or tests of yours",
        options=("all",) if rows else (),
        context=(("candidates", candidates),),
    )


_CHANGES: Mapping[str, Callable[[Stage], Stage]] = {
    "intake": _intake,
    "clarify": _clarify,
    "analyze": _analyze,
    "spec": _spec,
    "red": _red,
    "green": _green,
    "refactor": _refactor,
}
