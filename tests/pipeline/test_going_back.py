"""The run goes back by itself: a fact that only an earlier stage can repair opens that stage, once, with what was done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentforge_states import ARTIFACTS, asked, failed, fold

from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.model.effects import Ask, Reopen, StartStage, SubmitKept
from agentforge.pipeline.stages import load_stages

STAGES = load_stages()
FACT = {"stage": "red", "rule": "types", "path": "tests/test_slug.py", "message": "line 3: str is not int"}


def measured(stage: str, *facts: dict[str, Any], **changes: Any) -> RunState:
    state = failed(stage, **changes)
    return replace(
        state,
        facts={**state.facts, stage: {"belongs_to": list(facts)}},
        rejected={"files_modified": []},
        trees={**state.trees, "red": "2" * 40, "green": "3" * 40},
    )


def reopened(state: RunState, effect: Any) -> RunState:
    event = kinds.StageReopened(
        stage=effect.stage, by=effect.by, reason=effect.reason, findings=effect.findings, undone=effect.undone,
        answer=effect.answer, escalation_id=effect.escalation_id, tree="1" * 40, keep=True,
    )  # fmt: skip
    return fold(event, state=state)


def test_a_fact_of_an_earlier_stage_opens_that_stage_with_the_finding() -> None:
    effect = decide(measured("green", FACT), STAGES)
    assert isinstance(effect, Reopen)
    assert (effect.stage, effect.by, effect.reason, effect.undone) == ("red", "green", "belongs_here", ("red", "green"))
    state = reopened(measured("green", FACT), effect)
    assert decide(state, STAGES) == StartStage(stage="red", attempt=2)
    begun = fold(kinds.StageStarted(stage="red", attempt=2, tree="4" * 40), state=state)
    assert [item["message"] for item in begun.findings] == [FACT["message"]]
    assert begun.rejected == ARTIFACTS["red"]  # what it had is where it begins
    assert begun.trees["work"] == "4" * 40


def test_the_same_fact_goes_back_once_and_is_then_the_stages_own() -> None:
    state = measured("green", FACT)
    effect = decide(state, STAGES)
    seen = replace(measured("green", FACT, attempt=2), sent_back=reopened(state, effect).sent_back)
    assert decide(seen, STAGES) == StartStage(stage="green", attempt=3)
    other = {**FACT, "message": "line 9: another"}
    assert isinstance(decide(replace(seen, facts={"green": {"belongs_to": [FACT, other]}}), STAGES), Reopen)


def test_of_several_stages_the_first_is_opened_and_supplied_tests_are_never_written() -> None:
    of_spec = {**FACT, "stage": "spec"}
    effect = decide(measured("green", FACT, of_spec), STAGES)
    assert isinstance(effect, Reopen)
    assert effect.stage == "spec"
    assert [item["stage"] for item in effect.findings] == ["spec"]  # type: ignore[index,call-overload]
    supplied = measured("green", FACT, tests=("tests/test_slug.py",))
    assert decide(supplied, STAGES) == StartStage(stage="green", attempt=2)


def test_a_delivery_that_cannot_be_made_goes_to_the_stage_that_it_belongs_to() -> None:
    effect = decide(measured("deliver", {**FACT, "stage": "spec"}), STAGES)
    assert isinstance(effect, Reopen)
    assert effect.undone == ("spec", "red", "green", "refactor", "deliver")
    assert isinstance(decide(measured("deliver"), STAGES), Ask)


def kept(stage: str, **changes: Any) -> RunState:
    """At the start of `stage`, after the specification was opened again and done."""
    state = measured("green", escalations=asked("green", kind="stuck", decision="answer", reopen="spec", text="new"))
    state = reopened(state, decide(state, STAGES))
    known = state.stages[stage]
    begun = replace(state, answers=(), artifacts={**state.artifacts, "spec": {**ARTIFACTS["spec"], **changes}})
    return fold(kinds.StageStarted(stage=stage, attempt=known.attempt + 1), state=begun)


def test_tests_are_measured_again_as_they_stand_where_the_requirements_are_the_same() -> None:
    assert decide(kept("red", description="other words"), STAGES) == SubmitKept(stage="red")
    requirements = [{"id": "REQ-001", "acceptance_criteria": ["slugify('A b') == 'a_b'"]}]
    assert decide(kept("red", requirements=requirements), STAGES) != SubmitKept(stage="red")


def test_what_is_measured_again_and_fails_is_the_models_to_repair() -> None:
    state = kept("red")
    refused = kinds.StageVerified(
        stage="red", attempt=2, passed=False, contract="test_suite", contract_digest="", artifact={}, artifact_digest="",
        results=({"rule": "holds", "passed": False, "message": "no"},),
    )  # fmt: skip
    again = fold(refused, kinds.StageStarted(stage="red", attempt=3), state=state)
    assert decide(again, STAGES) != SubmitKept(stage="red")
