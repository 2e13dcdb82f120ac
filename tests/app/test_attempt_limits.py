"""Several attempts have one purse."""

from __future__ import annotations

from agentforge.app.tasks.candidates import own_limits
from agentforge.events.state.run_state import Limits, RunState, Totals
from tests.support.run_states import run_state

SHARED = Totals(steps=4, prompt_tokens=6000, completion_tokens=1000, cost_usd=1.0)
FIRST = {"steps": 2, "prompt_tokens": 1400, "completion_tokens": 100, "cost_usd": 0.5}


def _task(totals: Totals = SHARED, **limits: float) -> RunState:
    return run_state(
        run_id="task-x", totals=totals, limits=Limits(**{"max_steps": None, "budget_tokens": None, **limits})
    )  # type: ignore[arg-type]  # whole numbers where they are wanted


def test_the_next_attempt_has_what_the_earlier_ones_left() -> None:
    state = _task(max_steps=10, budget_tokens=9500, budget_usd=3.0)
    assert own_limits(state, (), ()) == {"max_steps": 10, "budget_tokens": 9500, "budget_usd": 3.0}
    assert own_limits(state, (), (FIRST,)) == {"max_steps": 8, "budget_tokens": 8000, "budget_usd": 2.5}


def test_what_an_earlier_process_told_is_counted_once() -> None:
    told = Totals(steps=6, prompt_tokens=7400, completion_tokens=1100, cost_usd=1.5)
    assert own_limits(_task(told, budget_tokens=9500), (FIRST,), ()) == {"budget_tokens": 8000}
    assert own_limits(_task(told, max_steps=10), (FIRST,), (FIRST,)) == {"max_steps": 6}


def test_side_by_side_each_has_its_share_and_nobody_less_than_what_all_used() -> None:
    assert own_limits(_task(budget_tokens=10_000), (), (), shares=3) == {"budget_tokens": 8000}
    assert own_limits(_task(budget_tokens=5000), (), (), shares=3) == {"budget_tokens": 7000}


def test_without_a_limit_there_is_none() -> None:
    assert own_limits(_task(), (), (FIRST,)) == {}
