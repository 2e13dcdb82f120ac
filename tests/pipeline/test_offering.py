"""What a question offers: only what changes what happens, and always a way to end the task."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.events import kinds
from agentforge.events.kinds.choices import ABORT, by_itself, choices_of
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.engine.questions import asked, offered
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.stages import load_stages
from tests.support.stage_states import before, fold, inside, passed

STAGES = load_stages()
NEED = {"task_id": "task-2", "required_stage": "deliver"}
CONFLICT = before(
    "analyze", after=(NEED,), awaited={"task::task-2:deliver": {"status": "failed", "seen": "it was aborted"}}
)
WEAK = {"weak_tests": {"findings": [{"rule": "survivor", "message": "m"}], "returns": 0, "ask": True}}
BROKEN = before("analyze", facts={"baseline": {"measured": False, "attempt": 1}})
NONE_PASSED = before("green", candidates=2, attempts={"chosen": {"number": 0}, "rows": []})
TOO_WEAK = passed("green", facts={"green": WEAK, "baseline": {}})
LIMIT = inside("spec", limits=fold().brief.limits.__class__(max_steps=0))
SUPPLIED = passed("red", mode="supervised", tests=("tests/test_x.py",))
EVERY = [CONFLICT, BROKEN, NONE_PASSED, TOO_WEAK, LIMIT, SUPPLIED, passed("spec", approve=("spec",))]


def raised(state: RunState) -> RunState:
    effect = decide(state, STAGES)
    assert isinstance(effect, Ask), effect
    return fold(*offered(asked(effect, state, lambda _one: ""), state, STAGES), state=state)


def answered(state: RunState, choice: Any) -> RunState:
    item = state.people.open_escalations[0]
    granted = [kinds.RunResumed(pid=0, limits={"max_steps": 9})] if item.kind == "limit" else []
    text = choice.text or ("words" if choice.words else "")
    event = kinds.EscalationResolved(
        escalation_id=item.escalation_id, decision=choice.decision, text=text, reopen=choice.reopen
    )
    return fold(*granted, event, state=state)


@pytest.mark.parametrize("state", EVERY)
def test_no_choice_leads_to_the_same_question_at_once(state: RunState) -> None:
    waiting = raised(state)
    offers = choices_of(waiting.people.open_escalations[0])
    assert offers[-1] == ABORT and len(offers) > 1
    for choice in offers:
        if choice.limit:
            continue
        following = decide(answered(waiting, choice), STAGES)
        assert following is not None
        assert not isinstance(following, Ask), (choice, following)


def test_tests_that_the_user_supplied_are_not_sent_back_to_a_model() -> None:
    offers = choices_of(raised(SUPPLIED).people.open_escalations[0])
    assert [(choice.decision, choice.reopen) for choice in offers] == [
        ("approve", ""), ("answer", "spec"), ("answer", "clarify"), ("abort", ""),
    ]  # fmt: skip


def test_words_about_a_stage_that_has_not_begun_reach_its_model() -> None:
    waiting = raised(NONE_PASSED)
    now = answered(waiting, choices_of(waiting.people.open_escalations[0])[0])
    begun = fold(kinds.StageStarted(stage="green", attempt=1), state=now)
    assert begun.people.answers and begun.people.answers[0].endswith("-> words")


@pytest.mark.parametrize(
    ("state", "decision", "taken"), [(CONFLICT, "approve", "again"), (CONFLICT, "reject", "abort")]
)
def test_a_deadline_takes_what_the_question_offers(state: RunState, decision: Any, taken: str) -> None:
    assert by_itself(raised(state).people.open_escalations[0], decision).label == taken
