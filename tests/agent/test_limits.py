"""Limits of a run: the first that is reached names itself."""

from __future__ import annotations

import pytest

from agentforge.agent.limits import exhausted
from agentforge.events.state.run_state import Limits, Totals
from tests.support.run_states import run_state

NONE = Limits(max_steps=None, budget_tokens=None)


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        (Limits(usd_per_minute=0.5), "usd_per_minute: 0.6000 USD"),
        (Limits(usd_per_minute=0.6), ""),
        (Limits(tokens_per_minute=999), "tokens_per_minute: 1000 tokens"),
        (Limits(tokens_per_minute=1000), ""),
    ],
)
def test_a_run_that_spends_too_fast_is_stopped_for_a_minute(limits: Limits, word: str) -> None:
    lately = (("2026-01-01T00:00:00Z", 5000, 9.0), ("2026-01-01T00:01:10Z", 1000, 0.6))
    state = run_state(limits=limits, lately=lately, last_at="2026-01-01T00:01:20Z")
    told = exhausted(state)
    assert told.startswith(word) and bool(told) == bool(word)
    assert exhausted(run_state(limits=limits, lately=lately, last_at="2026-01-01T00:02:10Z")) == ""


@pytest.mark.parametrize(
    ("limits", "totals", "active_s", "word"),
    [
        (Limits(max_steps=2), Totals(steps=1), 0.0, ""),
        (Limits(max_steps=2), Totals(steps=2), 0.0, "max_steps: 2 of 2"),
        (Limits(budget_tokens=100), Totals(prompt_tokens=40, completion_tokens=20, max_step_prompt_tokens=40), 0, ""),
        (
            Limits(budget_tokens=100), Totals(prompt_tokens=40, completion_tokens=21, max_step_prompt_tokens=40), 0,
            "budget_tokens: 61 of 100",
        ),
        (Limits(budget_usd=1.0), Totals(), 0, ""),
        (Limits(budget_usd=1.0), Totals(llm_calls=2, cost_usd=0.6), 0, ""),
        (Limits(budget_usd=1.0), Totals(llm_calls=2, cost_usd=0.7), 0, "budget_usd: 0.7000 of 1.0"),
        (Limits(deadline_s=60), Totals(), 59.9, ""),
        (Limits(deadline_s=60), Totals(), 60.0, "deadline: 60 of 60 seconds"),
        (NONE, Totals(steps=10**6, prompt_tokens=10**9, cost_usd=10**6, llm_calls=1), 10**9, ""),
    ],
)  # fmt: skip
def test_the_limit_that_forbids_another_call_is_named(
    limits: Limits, totals: Totals, active_s: float, word: str
) -> None:
    told = exhausted(run_state(limits=limits, totals=totals, active_s=active_s))
    assert told.startswith(word) and bool(told) == bool(word)
