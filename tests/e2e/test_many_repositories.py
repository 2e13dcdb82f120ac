"""Three real repositories: tasks that wait for each other across them, go on by themselves, and never wait in a circle."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentforge.app.composition.run_result import outcome_of
from agentforge.store.log.reader import load_state

if TYPE_CHECKING:
    from tests.support.world import Done, World

_PATIENCE_S = 300.0
_LIGHT = '[verification]\nmutants = 0\nimpact_s = 0\n[checks]\ndisable = ["ruff", "types"]\n'


@pytest.fixture
def three(world: World, place: Path) -> dict[str, World]:
    """The repositories data, api and app, all known by name."""
    from tests.support.world import make_world, own_settings

    own_settings(world.home, _LIGHT)
    found: dict[str, World] = {}
    for name in ("data", "api", "app"):
        made = make_world(place / name, world.home, pycache=world.pycache, results=place / "results")
        assert made.run("repo", "add", str(made.repo), "--name", name).code == 0
        found[name] = made
    return found


def eventually(look: Callable[[], Any], wanted: Any) -> None:
    """Look until it is as wanted; processes of their own take their time."""
    ends = time.monotonic() + _PATIENCE_S
    while (seen := look()) != wanted:
        assert time.monotonic() < ends, seen
        time.sleep(0.05)


def standing(world: World) -> str:
    """Read how the only task stands, from its log: the program that says it is too dear to be asked again and again."""
    return outcome_of(load_state(world.folder))


def start(world: World, *arguments: str, dependencies: dict[str, Any] | None = None) -> Done:
    from tests.support.world import good_script, reply, specification, submit

    script = good_script()
    if dependencies:
        slugify = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
        criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
        script["spec"] = [reply(submit(specification(criteria, slugify, dependencies=dependencies)))]
    world.home.joinpath("script.yaml").unlink(missing_ok=True)
    path = world.home / f"{world.repo.name}.yaml"
    world.model(script)
    (world.home / "script.yaml").rename(path)
    from tests.support.world import REQUEST

    return world.run("start", REQUEST, "--model", f"scripted/{path}", "--json", *arguments)


def test_a_task_waits_for_two_others_and_goes_on_by_itself(three: dict[str, World]) -> None:
    data, api, app = three.values()
    assert start(data, "--approve", "spec").code == 3
    waiting = start(api, "--after", f"data/{data.task}:deliver")
    assert (waiting.code, waiting.json["outcome"], waiting.json["llm_calls"]) == (3, "waiting", 0)
    needs = {"tasks": [{"task_id": f"api/{api.task}", "required_stage": "spec", "reason": "the API first"}]}
    assert start(app, dependencies=needs).json["outcome"] == "waiting"
    lines = app.run("status", "--all").out.splitlines()
    assert lines[0] == "data:  ESCALATED (needs approval)"
    assert lines[1].startswith("api:   WAITING (for ")
    assert lines[2].endswith(", 25%)")

    assert data.run("resolve", "E1", "--approve", "--resume").code == 0
    eventually(lambda: [standing(one) for one in (api, app)], ["delivered", "delivered"])
    assert [event["data"]["task_id"] for event in app.events("TaskArrived")] == [api.task]
    assert app.run("replay", app.task).code == 0
    assert app.run("status", "--all").out.splitlines()[0] == "data:  DELIVERED ✓"


def test_a_dependency_that_fails_is_asked_about_with_both_trails(three: dict[str, World]) -> None:
    data, api, _ = three.values()
    start(data, "--approve", "spec")
    start(api, "--after", f"data/{data.task}")
    assert data.run("abort", data.task).code == 0
    eventually(lambda: standing(api), "escalated")
    (asked,) = api.events("EscalationRaised")
    assert str(data.folder) in asked["data"]["question"]
    assert str(api.folder) in asked["data"]["question"]
    assert "aborted" in asked["data"]["reason"]
    done = api.run("resolve", "E1", "--answer", "without", "--resume", "--json")
    assert done.json["outcome"] == "delivered"


def test_tasks_that_would_wait_for_each_other_are_refused(three: dict[str, World]) -> None:
    data, api, _ = three.values()
    start(data, "--approve", "intake")  # the id of the second is known: same words, same day
    needs = {"tasks": [{"task_id": f"api/{data.task}", "required_stage": "red"}]}
    data.run("abort", data.task)
    data.folder.rename(data.home / "old")
    start(data, "--approve", "spec", dependencies=needs)
    assert start(api, "--after", f"data/{data.task}").json["outcome"] == "waiting"
    assert api.task == data.task

    done = data.run("resolve", "E1", "--approve", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (3, "escalated")
    told = done.json["escalations"][-1]
    assert f"wait for each other: {data.task} -> {api.task} -> {data.task}" in told["reason"]
    eventually(lambda: standing(api), "waiting")  # it looks once more when the other one asks


def test_a_specification_that_waits_for_its_own_task_is_refused(world: World) -> None:
    from tests.support.world import good_script, own_settings, reply, specification, submit

    own_settings(world.home, _LIGHT)
    world.start(None, "--approve", "intake")  # the id is known: same words, same day
    own = world.task
    assert world.run("abort", own).code == 0
    world.folder.rename(world.home / "old")
    slugify = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    needs = {"tasks": [{"task_id": own, "required_stage": "deliver"}]}
    specs = [specification(criteria, slugify, dependencies=needs), specification(criteria, slugify)]
    script = good_script(spec=[reply(submit(specs[0])), reply(submit({**specs[1], "dependencies": []}))])
    assert world.start(script).json["outcome"] == "delivered"
    refused = [event["data"] for event in world.events("StageVerified") if not event["data"]["passed"]]
    assert [row["stage"] for row in refused] == ["spec"]
    (broken,) = [row for row in refused[0]["results"] if not row["passed"]]
    assert (broken["rule"], f"{own} -> {own}" in broken["message"]) == ("no-cycles", True)


def test_an_artifact_of_a_delivered_task_is_waited_for(three: dict[str, World]) -> None:
    data, api, _ = three.values()
    data.git("checkout", "-q", "-b", "next")
    (data.repo / "user_events_schema.json").write_text('{"version": "1.2.0"}')
    data.commit_all("schema")
    data.git("checkout", "-q", "main")
    needs = {"external": [{"repo": "data", "artifact": "user_events_schema", "version": ">=1.2.0, <2"}]}
    start(data, "--approve", "spec", "--base", "next")
    assert start(api, dependencies=needs).json["outcome"] == "waiting"
    data.run("resolve", "E1", "--approve", "--resume")
    eventually(lambda: standing(api), "delivered")
    (arrived,) = api.events("TaskArrived")
    assert arrived["data"]["found"]["version"] == "1.2.0"
    assert arrived["data"]["task_id"] == data.task


def test_an_artifact_on_the_default_branch_is_there_whoever_brought_it(three: dict[str, World]) -> None:
    data, api, app = three.values()
    (data.repo / "user_events_schema.json").write_text('{"version": "1.2.0"}')
    tip = data.commit_all("schema, by hand")
    wanted = {"repo": "data", "artifact": "user_events_schema", "version": ">=1.2.0"}
    assert start(api, dependencies={"external": [wanted]}).json["outcome"] == "delivered"
    (arrived,) = api.events("TaskArrived")
    found = arrived["data"]["found"]
    assert (arrived["data"]["task_id"], found["branch"], found["commit"]) == ("", "main", tip)
    too_new = start(app, dependencies={"external": [{**wanted, "version": ">=3"}]})
    assert (
        "neither main nor a delivered task of data has user_events_schema >=3"
        in too_new.json["escalations"][0]["reason"]
    )


def test_tasks_start_in_several_repositories_each_from_its_own_branch(three: dict[str, World]) -> None:
    data, api, _ = three.values()
    data.git("checkout", "-q", "-b", "develop")
    (data.repo / "more.py").write_text("MORE = 1\n")
    tip = data.commit_all("more")
    data.git("checkout", "-q", "main")
    assert data.run("repo", "remove", "data").code == 0
    assert data.run("repo", "add", ".", "--name", "data", "--default-branch", "develop").code == 0
    done = start(api, "--repo", "data", "--repo", "api", "--approve", "intake")
    assert done.code == 3
    assert [(row["name"], row["outcome"]) for row in done.json] == [("data", "escalated"), ("api", "escalated")]
    assert [row["base_commit"] for row in done.json] == [tip, api.git("rev-parse", "main")]


def test_a_repository_that_vanished_is_told_and_found_again(three: dict[str, World]) -> None:
    _, api, app = three.values()
    moved = app.home / "elsewhere"
    app.repo.rename(moved)
    assert "app:   MISSING (" in api.run("status", "--all").out
    failed = start(api, "--repo", "app")
    assert (failed.code, failed.json["error"]["slug"]) == (2, "repository")
    assert "repo add PATH --name app" in failed.json["error"]["hint"]
    assert api.run("repo", "add", str(moved), "--name", "app").code == 0
    assert "app:   no tasks yet" in api.run("status", "--all").out
