"""From an accepted plan to its tasks: in which order, and what each is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import PartStarted
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.model.effects import Finish, StartPart
from agentforge.pipeline.model.run_dependencies import Sight, event_of, needs
from agentforge.pipeline.stages import load_stages
from agentforge.pipeline.workflows.split.parts import part_after, part_of, part_request
from tests.support.run_states import run_state, with_fields

AT = "2026-01-01T00:00:00Z"
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


def planned(*started: str, parts: list[dict[str, Any]] = PARTS) -> RunState:
    from agentforge.events.state.attempt import StageState

    state = run_state(
        run_id="task-plan",
        workflow="split",
        artifacts={"plan": {"parts": parts}},
        stages={"plan": StageState(status="verified")},
    )
    for name in started:
        repo = next(str(part["repo"]) for part in parts if part.get("name", part["repo"]) == name)
        begun = PartStarted(repo=repo, path=f"/r/{name}", task_id=f"task-{name}", part=name if name != repo else "")
        state = evolve(state, begun, at=AT)
    return state


def test_a_part_becomes_a_task_after_those_that_it_waits_for() -> None:
    stages = load_stages("split")
    order: list[str] = []
    while isinstance(effect := decide(planned(*order), stages), StartPart):
        order.append(effect.part)
    assert order == ["data", "api", "app"]
    assert effect == Finish(outcome="analyzed")


def test_the_task_of_a_part_waits_for_the_tasks_and_contracts_of_the_plan() -> None:
    state = planned("data")
    part = part_of(state, "api")
    waiting = with_fields(RunState(), after=part_after(state, part))
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


def test_a_part_starts_from_the_last_part_of_its_repository_that_comes_before() -> None:
    chain = [
        {"repo": "data", "name": "one", "request": "first"},
        {"repo": "api", "request": "serve", "needs": [{"repo": "data", "part": "one"}]},
        {"repo": "data", "name": "two", "request": "then", "needs": [{"repo": "api"}]},
    ]
    state = planned("one", "api", parts=chain)
    rows = part_after(state, part_of(state, "two"))
    assert [(row["repo"], row["task_id"], row.get("onto")) for row in rows] == [
        ("api", "task-api", None),
        ("data", "task-one", True),
    ]
    assert not any(row.get("onto") for row in part_after(state, part_of(state, "api")))
    assert state.relations.parts["one"] == {
        "repo": "data",
        "part": "one",
        "path": "/r/one",
        "task_id": "task-one",
        "base_commit": "",
    }


def test_a_run_starts_from_what_it_waited_for() -> None:
    state = run_state(base_commit="old", base_ref="main", after=({"task_id": "t", "repo": "data", "onto": True},))
    (need,) = needs(state)
    sight = Sight(status="arrived", found={"stage": "deliver", "commit": "new"}, branch="agentforge/t")
    moved = evolve(state, event_of(need, sight), at=AT)
    assert (moved.identity.base_commit, moved.identity.base_ref) == ("new", "agentforge/t")
    kept = evolve(state, event_of(replace(need, onto=False), sight), at=AT)
    assert (kept.identity.base_commit, kept.identity.base_ref) == ("old", "main")
