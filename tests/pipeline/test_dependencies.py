"""What a run needs of others, as a table: looked at, waited for, asked about, let go."""

from __future__ import annotations

from dataclasses import replace

from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import EscalationRaised, EscalationResolved, Event, RunResumed, TaskArrived
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.model.effects import Ask, AwaitTask, StartStage
from agentforge.pipeline.model.run_dependencies import Sight, await_next, event_of, needs, unmet
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import run_state

BEGUN = run_state(run_id="t", after=({"task_id": "data/task-1", "required_stage": "spec"},))
SPECIFIED = run_state(
    run_id="t",
    artifacts={
        "spec": {
            "dependencies": {
                "tasks": [{"task_id": "task-xyz", "required_stage": "deliver", "reason": "schema first"}],
                "external": [{"repo": "data-layer", "artifact": "user_events_schema", "version": ">=1.2.0"}],
            }
        }
    },
)


def after(state: RunState, *events: Event) -> RunState:
    for event in events:
        state = evolve(state, event, at="2026-01-01T00:00:00.000000Z")
    return state


def seen(state: RunState, status: str) -> RunState:
    """The state after everything that is unmet was looked at."""
    for need in unmet(state):
        sight = Sight(status=status, seen="as it is", trails=("/a", "/b"))  # type: ignore[arg-type]
        state = after(state, event_of(need, sight))
    return state


def test_needs_are_read_from_the_beginning_and_from_the_specification() -> None:
    (first,) = needs(BEGUN)
    assert (first.repo, first.task_id, first.stage) == ("data", "task-1", "spec")
    assert [need.words for need in needs(SPECIFIED)] == [
        "stage deliver of task task-xyz",
        "artifact user_events_schema >=1.2.0 of data-layer",
    ]


def test_a_list_of_names_is_nothing_to_wait_for() -> None:
    assert needs(run_state(artifacts={"spec": {"dependencies": ["requests"]}})) == ()


def test_nothing_begins_before_what_is_needed_was_looked_at() -> None:
    stages = load_stages()
    assert decide(BEGUN, stages) == AwaitTask(key="task:data:task-1:spec")
    assert decide(seen(BEGUN, "waiting"), stages) is None
    assert isinstance(decide(seen(BEGUN, "arrived"), stages), StartStage)


def test_everything_is_looked_at_before_the_run_waits() -> None:
    one = after(SPECIFIED, event_of(needs(SPECIFIED)[0], Sight(status="waiting")))
    assert await_next(one) == AwaitTask(key=needs(SPECIFIED)[1].key)
    assert await_next(seen(SPECIFIED, "waiting")) is None
    assert seen(SPECIFIED, "waiting").relations.waits_for == tuple(need.key for need in needs(SPECIFIED))


def test_a_run_that_goes_on_looks_again_at_what_had_not_arrived() -> None:
    state = after(seen(SPECIFIED, "waiting"), TaskArrived(key=needs(SPECIFIED)[0].key), RunResumed(pid=1))
    assert await_next(state) == AwaitTask(key=needs(SPECIFIED)[1].key)


def test_what_cannot_come_is_asked_about_with_both_trails() -> None:
    asked = await_next(seen(BEGUN, "failed"))
    assert isinstance(asked, Ask)
    assert asked.kind == "conflict"
    assert "/a" in asked.question
    assert "/b" in asked.question
    assert asked.options == ("again", "without")


def test_the_answer_lets_the_need_go_or_looks_again() -> None:
    state = seen(BEGUN, "failed")
    asked = await_next(state)
    assert isinstance(asked, Ask)
    state = after(
        state,
        EscalationRaised(
            escalation_id="E1", stage="", kind="conflict", reason="", question="", context=dict(asked.context)
        ),
    )
    answered = EscalationResolved(escalation_id="E1", decision="answer", text="Without")
    assert unmet(after(state, answered)) == ()
    again = after(state, replace(answered, text="again"), RunResumed(pid=1))
    assert await_next(again) == AwaitTask(key="task:data:task-1:spec")
