"""Attempts are counted anew from every answer of a human, and no context says "6 of 5"."""

from __future__ import annotations

from agentforge.events import kinds
from agentforge.events.state.run_state import Escalation
from agentforge.pipeline.context.step_context import verification_status
from agentforge.pipeline.engine.attempts import handed_in, stages_of_attempt
from agentforge.pipeline.model.revisits import attempts_allowed
from tests.support.stage_states import inside

ANSWERED = Escalation(
    escalation_id="E1",
    stage="green",
    kind="stuck",
    reason="stuck",
    question="?",
    options=(),
    context={"attempt": 5},
    raised_at="",
    resolution=kinds.EscalationResolved(escalation_id="E1", decision="answer", text="go on", by="ann"),
)


def test_before_an_answer_the_limit_holds() -> None:
    assert attempts_allowed(inside("green", attempt=3), "green", by_model=True) == 5
    assert attempts_allowed(inside("green", attempt=1), "green", by_model=False) == 1


def test_after_an_answer_the_stage_has_all_its_attempts_again() -> None:
    state = inside("green", attempt=6, escalations={"E1": ANSWERED})
    assert attempts_allowed(state, "green", by_model=True) == 10
    assert verification_status(state)["attempt"] == "6 of 10"


def test_what_was_rejected_is_worked_on_beyond_the_last_attempt() -> None:
    assert verification_status(inside("green", attempt=6))["attempt"] == "6 of 6"


def test_what_an_attempt_handed_in_is_taken_over_with_the_stages_from_outside_between() -> None:
    order = ("spec", "threats", "red", "review", "green", "news", "refactor")
    assert stages_of_attempt(order, "green") == ("green",)
    own = stages_of_attempt(order, "red")
    assert own == ("red", "review", "green")
    said = [(stage, "one") for stage in order[1:]] + [("review", "two"), ("green", "two")]
    trees = {"red": "r", "green": "g"}
    events = [
        event
        for stage, text in said
        for event in (
            kinds.ArtifactSubmitted(stage=stage, attempt=1, draft={"text": text}, by="model"),
            kinds.FactsGathered(name=stage, attempt=1, facts={}, tree=trees.get(stage, "")),
        )
    ]
    assert handed_in(events[:8], own) == {
        "red": {"draft": {"text": "one"}, "tree": "r"},
        "review": {"draft": {"text": "one"}, "tree": "r"},
        "green": {"draft": {"text": "one"}, "tree": "g"},
    }
    assert handed_in(events, own)["green"] == {"draft": {"text": "two"}, "tree": "g"}
