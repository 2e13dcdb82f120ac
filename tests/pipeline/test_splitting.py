"""From an accepted plan to its tasks: in which order, and what each is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentforge.events.evolve import evolve
from agentforge.events.kinds import PartStarted
from agentforge.events.state import RunState
from agentforge.pipeline.decide import decide
from agentforge.pipeline.dependencies import needs
from agentforge.pipeline.effects import Finish, StartPart
from agentforge.pipeline.splitting import part_after, part_of, part_request
from agentforge.pipeline.stages import load_stages

PARTS = [
    {"repo": "app", "request": "show the events", "needs": [{"repo": "api", "required_stage": "spec"}]},
    {
        "repo": "api",
        "request": "serve the events",
        "needs": [{"repo": "data", "reason": "schema first"}],
        "uses": [{"repo": "data", "artifact": "events", "version": ">=1.2"}],
    },
    {"repo": "data", "request": "store the events", "provides": [{"artifact": "events", "version": "1.2.0"}]},
]


def planned(*started: str) -> RunState:
    from agentforge.events.state import StageState

    state = RunState(
        run_id="task-plan",
        workflow="split",
        artifacts={"plan": {"parts": PARTS}},
        stages={"plan": StageState(status="verified")},
    )
    for name in started:
        state = evolve(
            state, PartStarted(repo=name, path=f"/r/{name}", task_id=f"task-{name}"), at="2026-01-01T00:00:00Z"
        )
    return state


def test_a_part_becomes_a_task_after_those_that_it_waits_for() -> None:
    stages = load_stages("split")
    order: list[str] = []
    while isinstance(effect := decide(planned(*order), stages), StartPart):
        order.append(effect.repo)
    assert order == ["data", "api", "app"]
    assert effect == Finish(outcome="analyzed")


def test_the_task_of_a_part_waits_for_the_tasks_and_contracts_of_the_plan() -> None:
    state = planned("data")
    part = part_of(state, "api")
    waiting = replace(RunState(), after=part_after(state, part))
    assert [need.key for need in needs(waiting)] == ["task:data:task-data:deliver", "artifact:data:events:>=1.2"]
    assert [need.reason for need in needs(waiting)] == ["schema first", "a contract of plan task-plan"]
    later = part_after(planned("data", "api"), part_of(state, "app"))
    assert [(row["task_id"], row["required_stage"]) for row in later] == [("task-api", "spec")]


def test_a_part_is_told_which_contracts_it_delivers_and_relies_on() -> None:
    state = planned()
    told: Any = part_request(part_of(state, "data"))
    assert told.startswith("store the events\n\n")
    assert 'events.toml with the top-level entry version: "1.2.0"' in told
    assert "Rely on the contract events >=1.2 of the repository data." in part_request(part_of(state, "api"))
