"""Budgets of a run: a cap pauses before the next call, `resume` with more goes on, the breaker waits for its minute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.loopback.provider import Say
from tests.support.world import EXIT_LIMIT, analysis, intake, reply, submit

if TYPE_CHECKING:
    from tests.support.loopback.provider import LoopbackProvider
    from tests.support.world import Done, World

_LOOK = Say(calls=(("read_file", '{"path": "textkit.py"}'),), usage=(100_000, 1_000, 0))
_INTAKE = intake("analyze", examples=[])
_FINDINGS = analysis(findings=["it does"])


def _says(artifact: object) -> Say:
    return Say(calls=(("submit_artifact", json.dumps({"artifact": artifact})),), usage=(100_000, 1_000, 0))


def _start(world: World, loopback: LoopbackProvider, *arguments: str, model: str = "gpt-4o-mini") -> Done:
    """A run of four calls, each of 100,000 prompt tokens: about 0.0156 USD at the price of the day."""
    world.environ.update(BASE_URL=f"{loopback.url}/v1", API_KEY="local-key-0001")
    loopback.plan(_says(_INTAKE), _LOOK, _LOOK, _says(_FINDINGS))
    return world.run("start", "what does textkit do?", "--model", f"custom/{model}", "--json", *arguments)


def _resume(world: World, *arguments: str) -> Done:
    return world.run("resume", world.task, "--json", *arguments)


def test_money_is_a_cap_that_pauses_and_more_of_it_goes_on(world: World, loopback: LoopbackProvider) -> None:
    done = _start(world, loopback, "--budget-usd", "0.035")
    assert (done.code, done.json["outcome"]) == (EXIT_LIMIT, "paused"), done.out + done.err
    assert len(loopback.asked) == 2 and 0 < done.json["cost_usd"] <= 0.035
    (asked,) = world.events("EscalationRaised")
    assert asked["data"]["kind"] == "limit" and asked["data"]["reason"].startswith("budget_usd: ")
    assert _resume(world).code == EXIT_LIMIT and len(loopback.asked) == 2
    more = _resume(world, "--budget-usd", "+0.02")
    assert more.code == EXIT_LIMIT and len(loopback.asked) == 3, more.out
    last = _resume(world, "--budget-usd", "1")
    assert (last.code, last.json["outcome"]) == (0, "analyzed"), last.out
    assert len(loopback.asked) == 4


def test_without_a_price_that_is_said_and_tokens_still_hold(world: World, loopback: LoopbackProvider) -> None:
    done = _start(world, loopback, "--budget-usd", "0.000001", "--budget-tokens", "250000", model="unheard-of")
    assert done.code == EXIT_LIMIT and done.json["cost_usd"] is None
    assert "budget_tokens: 202000 of 250000" in done.out
    shown = world.run("status", world.task)
    assert "cost unknown" in shown.out, shown.out
    assert _resume(world, "--budget-tokens", "+1000000").json["outcome"] == "analyzed"


def test_steps_can_be_raised_by_a_number(world: World, loopback: LoopbackProvider) -> None:
    assert _start(world, loopback, "--max-steps", "1").code == EXIT_LIMIT
    assert _resume(world, "--max-steps", "+1").code == EXIT_LIMIT and len(loopback.asked) == 2
    assert _resume(world, "--max-steps", "+10").json["outcome"] == "analyzed"


@pytest.mark.parametrize("flag", ["--tokens-per-minute", "--usd-per-minute"])
def test_the_breaker_pauses_a_run_that_spends_too_fast(world: World, loopback: LoopbackProvider, flag: str) -> None:
    done = _start(world, loopback, flag, "150000" if "tokens" in flag else "0.02")
    assert done.code == EXIT_LIMIT and "within a minute" in done.out, done.out
    asked = len(loopback.asked)
    again = _resume(world)
    assert (
        again.code == EXIT_LIMIT and len(loopback.asked) == asked == 2
    )  # the minute is not over; a restart forgets nothing
    assert _resume(world, flag, "none").json["outcome"] == "analyzed"


def test_what_cannot_be_added_is_a_usage_error_and_changes_nothing(world: World, loopback: LoopbackProvider) -> None:
    refused = _start(world, loopback, "--max-steps", "+1")
    assert refused.code == 2 and not (world.repo / ".agentforge" / "tasks").exists()
    assert _start(world, loopback, "--max-steps", "1").code == EXIT_LIMIT
    before = world.events()
    wrong = _resume(world, "--budget-usd", "+1")
    assert wrong.code == 2 and "budget_usd has no bound" in wrong.out
    assert world.events() == before


def test_the_breaker_is_a_setting(world: World) -> None:
    world.settings("[limits]\ntokens_per_minute = 10\n")
    done = world.start({"intake": [reply(submit(_INTAKE))], "analyze": [reply(submit(_FINDINGS))]})
    assert done.code == EXIT_LIMIT and "tokens_per_minute" in done.out, done.out
