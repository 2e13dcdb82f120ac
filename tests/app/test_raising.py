"""`+N`: a limit raised by so much."""

from __future__ import annotations

import pytest

from agentforge.app.tasks.limit_changes import BUDGET, Increase, raised
from agentforge.errors import UsageError
from agentforge.events.state.run_state import Escalation, Limits, Totals
from tests.support.run_states import run_state, with_fields

STATE = run_state(
    limits=Limits(max_steps=10, budget_usd=1.0, deadline_s=None),
    totals=Totals(steps=4, cost_usd=1.5, prompt_tokens=1, completion_tokens=2),
)


def test_an_increase_counts_from_the_limit_or_from_what_is_used_where_that_is_more() -> None:
    given = {"max_steps": Increase(by=5), "budget_usd": Increase(by=0.5), "budget_tokens": 7, "attempts": 2}
    assert raised(STATE, given) == {"max_steps": 15, "budget_usd": 2.0, "budget_tokens": 7, "attempts": 2}


def test_nothing_can_be_added_to_what_has_no_bound() -> None:
    with pytest.raises(UsageError, match="deadline has no bound"):
        raised(STATE, {"deadline_s": Increase(by=60)})
    assert raised(STATE, {"deadline_s": None}) == {"deadline_s": None}


def test_the_budget_is_whichever_limit_the_run_waits_for() -> None:
    asked = Escalation(
        escalation_id="E1",
        stage="green",
        kind="limit",
        reason="max_steps: 10 of 10 used",
        question="?",
        options=(),
        context={},
        raised_at="",
    )
    waiting = with_fields(STATE, escalations={"E1": asked})
    assert raised(waiting, {BUDGET: Increase(by=5.0)}) == {"max_steps": 15}
    assert raised(waiting, {BUDGET: 40.0}) == {"max_steps": 40}
    assert raised(waiting, {BUDGET: None}) == {"max_steps": None}
    with pytest.raises(UsageError, match=r"no limit .* is exhausted"):
        raised(STATE, {BUDGET: Increase(by=5.0)})
