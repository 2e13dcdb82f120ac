"""What a run came to, and with which exit code its command ends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge import errors
from agentforge.app.composition.run_result import RunResult, exit_code, outcome_of, result_value
from agentforge.events.kinds import EscalationResolved
from agentforge.events.state.attempt import StageState
from agentforge.events.state.run_state import Escalation, Totals
from tests.support.run_states import run_state, with_fields

HUMAN = EscalationResolved(escalation_id="E1", decision="answer", text="b")


def escalation(kind: str, *, answered: bool = False, number: int = 1) -> dict[str, Escalation]:
    item = Escalation(
        escalation_id=f"E{number}", stage="spec", kind=kind, reason="r", question="Which?", options=("a",), context={},
        raised_at="2026-01-01T00:00:00Z", resolution=HUMAN if answered else None,
    )  # fmt: skip
    return {item.escalation_id: item}


def result(error: errors.AgentForgeError | None = None, running: bool = False, **state: Any) -> RunResult:
    return RunResult(
        state=run_state(run_id="task-1", **state), folder=Path("/runs/task-1"), error=error, running=running
    )


@pytest.mark.parametrize(
    ("given", "outcome", "code"),
    [
        (result(outcome="delivered"), "delivered", 0),
        (result(outcome="analyzed"), "analyzed", 0),
        (result(outcome="aborted"), "aborted", 1),
        (result(outcome="failed"), "failed", 1),
        (result(outcome="failed", error=errors.StorageError("disk")), "failed", 7),
        (result(), "paused", 1),
        (result(running=True), "running", 1),
        (result(escalations=escalation("question")), "escalated", 3),
        (result(escalations=escalation("approval")), "escalated", 3),
        (result(escalations=escalation("stuck")), "escalated", 3),
        (result(escalations=escalation("limit")), "paused", 6),
        (result(escalations={**escalation("limit"), **escalation("question", number=2)}), "escalated", 3),
        (result(escalations=escalation("question", answered=True)), "paused", 1),
        (result(error=errors.ModelAuthError("401")), "paused", 5),
        (result(error=errors.UsageError("x")), "paused", 2),
        (result(error=errors.VerificationFailed("x")), "paused", 4),
        (result(error=errors.SandboxError("x")), "paused", 7),
        (result(error=errors.LockedError("x")), "paused", 8),
        (result(error=errors.IntegrityError("x")), "paused", 9),
        (result(error=errors.StorageError("x"), escalations=escalation("question")), "escalated", 3),
    ],
)
def test_outcome_and_exit_code(given: RunResult, outcome: str, code: int) -> None:
    assert (outcome_of(given.state, running=given.running), exit_code(given)) == (outcome, code)


def test_the_value_is_json_and_says_where_the_run_stands() -> None:
    stages = {
        "intake": StageState(
            status="verified",
            attempt=1,
            steps=1,
            prompt_tokens=10,
            completion_tokens=2,
            results=({"rule": "schema", "passed": True, "measured": 1},),
        ),
        "clarify": StageState(status="skipped"),
    }
    value = result_value(
        result(stages=stages, escalations=escalation("question", answered=True), totals=Totals(cost_usd=0.5))
    )
    assert json.loads(json.dumps(value)) == value
    assert (value["stage"], value["outcome"], value["cost_usd"], value["error"]) == ("intake", "paused", 0.5, None)
    assert value["stages"][0] == {  # type: ignore[index]
        "name": "intake", "status": "verified", "attempts": 1, "steps": 1, "tokens": 12, "verified": True,
    }  # fmt: skip
    assert value["verification"] == {"intake: schema": {"passed": True, "measured": 1}}
    (row,) = value["escalations"]  # type: ignore[misc]
    assert (row["status"], row["decision"], row["answer"]) == ("resolved", "answer", "b")


def test_an_unknown_price_is_no_number() -> None:
    assert result_value(result(totals=Totals(cost_usd=0.5, cost_known=False)))["cost_usd"] is None


def test_the_error_is_that_of_this_process_else_that_of_the_end() -> None:
    stale = {"slug": "model-unavailable", "message": "503"}
    running_on = result()
    assert result_value(replace(running_on, state=with_fields(running_on.state, error=stale)))["error"] is None
    ended = replace(running_on, state=with_fields(running_on.state, error=stale, outcome="failed"))
    assert result_value(ended)["error"] == stale
    mine = result_value(result(error=errors.ModelAuthError("401", hint="set the key")))["error"]
    assert mine == {"slug": "model-auth", "message": "401", "hint": "set the key"}
