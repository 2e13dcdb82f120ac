"""What the loop does next, by the state alone."""

from __future__ import annotations

import pytest

from agentforge.agent.decide import (
    SILENT_LIMIT,
    CallModel,
    Effect,
    FinishStep,
    RunTool,
    Stop,
    decide_turn,
    step_approval,
)
from agentforge.agent.limits import LONGEST_CYCLE, STOP_AFTER
from agentforge.events.kinds import Decision, EscalationResolved
from agentforge.events.state.attempt import LOOP_WINDOW, Call, StageState, Turn
from agentforge.events.state.run_state import Escalation, Limits, RunState, Totals
from tests.support.run_states import run_state, with_fields

EDIT = Call(call_id="c0", name="edit", arguments='{"path": "a.py"}')
READ = Call(call_id="c1", name="read_file", arguments="{}")
STATE = run_state(run_id="t", stage="green", stages={"green": StageState(status="running", attempt=1)})


def turn(**values: object) -> RunState:
    return with_fields(STATE, turn=Turn(**values))  # type: ignore[arg-type]


def approval(decision: Decision | None, text: str = "", step: int = 3) -> Escalation:
    given = EscalationResolved(escalation_id="E1", decision=decision, text=text) if decision else None
    return Escalation(
        escalation_id="E1", stage="green", kind="approval", reason="", question="", options=(),
        context={"step": step}, raised_at="", resolution=given,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("state", "effect"),
    [
        (STATE, CallModel(step=1)),
        (turn(step=3), CallModel(step=4)),
        (turn(step=3, calling=True), CallModel(step=3)),
        (turn(step=3, replied=True), FinishStep(step=3)),
        (turn(step=3, replied=True, calls=(EDIT, READ)), RunTool(index=0, in_doubt=False)),
        (turn(step=3, replied=True, calls=(EDIT, READ), done=1), RunTool(index=1, in_doubt=False)),
        (turn(step=3, replied=True, calls=(EDIT, READ), done=1, started=True), RunTool(index=1, in_doubt=True)),
        (turn(step=3, replied=True, calls=(EDIT, READ), done=2), FinishStep(step=3)),
        (turn(step=3, silent_steps=SILENT_LIMIT - 1), CallModel(step=4)),
        (turn(step=3, steps_in_attempt=24), CallModel(step=4)),
        (turn(step=3, loop=("a",) * (STOP_AFTER - 1)), CallModel(step=4)),
    ],
)  # fmt: skip
def test_the_next_effect_follows_from_the_turn(state: RunState, effect: Effect) -> None:
    assert decide_turn(state) == effect


@pytest.mark.parametrize(
    ("state", "kind", "word"),
    [
        (with_fields(STATE, totals=Totals(steps=200)), "limit", "max_steps"),
        (turn(silent_steps=SILENT_LIMIT), "stuck", "without calling a tool"),
        (turn(loop=("a",) * STOP_AFTER), "stuck", "repeats"),
        (turn(steps_in_attempt=25), "stuck", "25 steps without a result in stage green"),
        (with_fields(turn(steps_in_attempt=3), limits=Limits(stage_steps=3)), "stuck", "3 steps"),
    ],
)
def test_a_loop_that_leads_nowhere_stops_and_asks(state: RunState, kind: str, word: str) -> None:
    effect = decide_turn(state)
    assert isinstance(effect, Stop)
    assert effect.kind == kind
    assert word in effect.reason
    assert effect.question


def test_the_calls_of_a_reply_are_carried_out_even_when_the_limit_is_reached() -> None:
    state = with_fields(turn(step=3, replied=True, calls=(READ,)), totals=Totals(steps=200))
    assert decide_turn(state) == RunTool(index=0, in_doubt=False)


@pytest.mark.parametrize("length", range(1, LONGEST_CYCLE + 1))
def test_the_state_remembers_enough_calls_to_see_every_cycle_that_is_looked_for(length: int) -> None:
    cycle = tuple("abcde"[:length])
    assert isinstance(decide_turn(turn(loop=(cycle * STOP_AFTER)[-LOOP_WINDOW:])), Stop)


def test_interactive_asks_before_a_reply_that_changes_something_and_only_then() -> None:
    state = with_fields(turn(step=3, replied=True, calls=(READ, EDIT)), mode="interactive")
    effect = decide_turn(state)
    assert isinstance(effect, Stop)
    assert (effect.kind, "a.py" in effect.question) == ("approval", True)
    reading = with_fields(turn(step=3, replied=True, calls=(READ,)), mode="interactive")
    assert decide_turn(reading) == RunTool(index=0, in_doubt=False)
    assert decide_turn(with_fields(state, mode="supervised")) == RunTool(index=0, in_doubt=False)


@pytest.mark.parametrize(
    ("decision", "text", "refusal"),
    [
        ("approve", "", ""),
        ("answer", "go on", ""),
        ("reject", "not now", "the human refused this step: not now"),
        ("reject", "", "the human refused this step: no reason given"),
    ],
)
def test_an_approved_step_runs_and_a_refused_one_is_answered(decision: Decision, text: str, refusal: str) -> None:
    waiting = with_fields(turn(step=3, replied=True, calls=(EDIT,)), mode="interactive")
    state = with_fields(waiting, escalations={"E1": approval(decision, text)})
    assert decide_turn(state) == RunTool(index=0, in_doubt=False, refusal=refusal)


def test_an_approval_belongs_to_its_own_step() -> None:
    state = with_fields(turn(step=4, replied=True, calls=(EDIT,)), escalations={"E1": approval("approve", step=3)})
    assert step_approval(state) is None
    assert isinstance(decide_turn(with_fields(state, mode="interactive")), Stop)
