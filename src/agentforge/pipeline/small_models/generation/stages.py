"""The ordinary stages, cut down for small models: what a person or the tree can say is not asked of the model. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Json, Stage, StageQuestion, items
from agentforge.pipeline.small_models.generation import drafts
from agentforge.pipeline.small_models.generation.decisions import one_that_fails, places_first
from agentforge.pipeline.small_models.generation.units import PLACE_QUESTION, place_by_person, scenes, units_of
from agentforge.pipeline.small_models.reading.bug_reports import is_report, report_draft, report_questions
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request, confirmed_claims
from agentforge.pipeline.small_models.reading.unverified_wishes import questions_beside
from agentforge.pipeline.small_models.refactoring.syntax_tree import by_tree

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
