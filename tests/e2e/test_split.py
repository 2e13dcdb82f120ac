"""One request over several real repositories: the plan is an artifact of its own, its parts are tasks that wait."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.support.world import World

_LIGHT = '[verification]\nmutants = 0\nimpact_s = 0\n[checks]\ndisable = ["ruff", "types"]\n'
_ASKED = ("start", "Show user events everywhere", "--split", "--json")


@pytest.fixture
def two(world: World, place: Path) -> dict[str, World]:
    """The repositories data and api, known by name; data holds a contract already."""
    from tests.support.world import make_world, own_settings

    own_settings(world.home, _LIGHT)
    found: dict[str, World] = {}
    for name in ("data", "api"):
        made = make_world(place / name, world.home, pycache=world.pycache, results=place / "results")
        assert made.run("repo", "add", str(made.repo), "--name", name).code == 0
        found[name] = made
    (found["data"].repo / "events.json").write_text('{"version": "1.1.0"}')
    found["data"].commit_all("contract")
    return found


def plan(**parts: Any) -> dict[str, Any]:
    from tests.support.world import REQUEST

    rows = [{"repo": name, "request": f"{REQUEST}, for {name}", **more} for name, more in parts.items()]
    return {"summary": "data first", "parts": rows}


def good() -> dict[str, Any]:
    return plan(
        data={"provides": [{"artifact": "events", "version": "1.2.0"}]},
        api={"needs": [{"repo": "data"}], "uses": [{"repo": "data", "artifact": "events", "version": ">=1.2"}]},
    )


def script(world: World, *plans: dict[str, Any]) -> str:
    from tests.support.world import good_script, reply, submit

    return world.model({**good_script(), "plan": [reply(submit(one)) for one in plans]})


def audit(world: World, task: str) -> str:
    out = world.home / "audit.md"
    assert world.run("audit", task, "-o", str(out)).code == 0
    return out.read_text()


def task_of(world: World, word: str) -> Path:
    (found,) = [path for path in (world.repo / ".agentforge" / "tasks").iterdir() if word in path.name]
    return found


def test_a_request_is_planned_over_two_repositories_and_its_parts_wait_for_each_other(two: dict[str, World]) -> None:
    data, api = two.values()
    old = plan(data={"provides": [{"artifact": "events", "version": "1.1.0"}]}, api={})
    both = ("--repo", "data", "--repo", "api", "--model", script(data, old, good()))
    asked = data.run(*_ASKED, *both, "--approve", "plan", "--approve", "intake")
    assert (asked.code, asked.json["outcome"], asked.json["parts"]) == (3, "escalated", [])
    assert "1.1.0 is not newer than 1.1.0" in str(data.events("StageVerified")[0]["data"]["results"])
    task = asked.json["task_id"]

    done = data.run("resolve", "E1", "--approve", "--resume", "--json")
    assert done.code == 3, done.out + done.err
    assert "events" in (task_of(data, "plan") / "artifacts" / "phases" / "plan" / "plan.yaml").read_text()
    rows = {row["repo"]: row for row in done.json["parts"]}
    assert {name: row["outcome"] for name, row in rows.items()} == {"data": "escalated", "api": "waiting"}
    assert rows["api"]["waits_for"] == [f"task:data:{rows['data']['task_id']}:deliver", "artifact:data:events:>=1.2"]

    lines = api.run("status", "--all").out.splitlines()
    assert lines[0] == "data:  ESCALATED (needs approval)"
    assert lines[1].startswith(f"api:   WAITING (for data/{rows['data']['task_id']}: deliver, data: events >=1.2, ")
    assert lines[2].startswith(f"plan {task}: data ESCALATED")
    assert f"the part of api in {task}" in audit(api, rows["api"]["task_id"])
    assert "needs data: deliver" in audit(data, task)
    assert data.run("replay", task).code == 0
    assert data.run("verify", task).code == 0
    again = data.run("resume", task, "--json")
    assert [row["task_id"] for row in again.json["parts"]] == [row["task_id"] for row in done.json["parts"]]


def test_a_process_that_dies_between_two_parts_makes_no_part_twice(two: dict[str, World]) -> None:
    data, api = two.values()
    away = api.repo.with_name("away")
    both = (
        "--repo",
        "data",
        "--repo",
        "api",
        "--model",
        script(data, good()),
        "--approve",
        "plan",
        "--approve",
        "intake",
    )
    task = data.run(*_ASKED, *both).json["task_id"]
    api.repo.rename(away)
    broken = data.run("resolve", "E1", "--approve", "--resume", "--json")
    assert (broken.json["error"]["slug"], broken.code) == ("repository", 2)
    log = data.repo / ".agentforge" / "tasks" / task / "events.jsonl"
    kept = log.read_text().splitlines(keepends=True)
    cut = next(number for number, line in enumerate(kept) if '"type":"PartStarted"' in line)
    data.died_after(cut, folder=log.parent)  # the part was made, and the process died before it could say so
    away.rename(api.repo)
    done = data.run("resume", task, "--json")
    assert [row["repo"] for row in done.json["parts"]] == ["data", "api"], done.out + done.err
    assert len(list((data.repo / ".agentforge" / "tasks").iterdir())) == 2
    shutil.rmtree(api.repo)


def test_what_cannot_be_split_is_said(two: dict[str, World]) -> None:
    data, _ = two.values()
    model = ("--model", script(data, good()))
    assert "knows by name" in data.run("start", "x y", "--split", *model, cwd=data.home).err
    assert "no repository is known" in data.run("start", "x y", "--repo", "data", "--repo", "no", "--split", *model).err
    both = ("--repo", "data", "--repo", "api", "--split", *model)
    assert "--tests belongs to one" in data.run("start", "x y", *both, "--tests", "tests").err
    assert not (data.repo / ".agentforge" / "tasks").exists() or not any(
        (data.repo / ".agentforge" / "tasks").iterdir()
    )


ONE = '    return "".join(word[0] for word in text'
TWO = '    words = text.split()[:2]\n    return "".join(word[0] for word in words)\n'
THREE = '    firsts = [word[0] for word in text.split()[:2]]\n    return "".join(firsts)\n'


def refactoring(part: str, change: tuple[str, Any]) -> dict[str, Any]:
    """Replies that deliver a change of `initials`, for a part of that name; two guards that need few test runs."""
    from tests.support.world import IMPLEMENTED, intake, reply, specification, submit, suite, write

    path = f"tests/test_{part}.py"
    tests = [
        f"def test_{part}_{n}():\n    assert initials('{a}') == '{b}'\n"
        for n, a, b in ((1, "a b", "ab"), (2, "a", "a"))
    ]
    rows = [(f"test_{part}_{n}", "REQ-001.1", "guard") for n in (1, 2)]
    symbol = {"name": "initials", "signature": "(text: str) -> str", "change": "changed"}
    replies = {
        "intake": [submit(intake("refactor", examples=[]))],
        "spec": [submit(specification(["initials('a b') -> 'ab'"], symbol, title=f"Split initials {part}"))],
        "red": [write(path, "from textkit import initials\n\n\n" + "\n\n".join(tests)), submit(suite(path, *rows))],
        "green": [change, IMPLEMENTED],
    }
    return {f"{stage}@{part}": [reply(*calls)] for stage, calls in replies.items()}


def test_parts_of_one_repository_are_delivered_one_on_the_branch_of_the_other(two: dict[str, World]) -> None:
    from tests.support.world import edit, good_script, reply, submit

    data, _ = two.values()
    parts = [
        {
            "repo": "data",
            "name": "then",
            "request": "Name what initials joins",
            "needs": [{"repo": "data", "part": "first"}],
        },
        {"repo": "data", "name": "first", "request": "Name the words in initials"},
    ]
    wrong = {"summary": "both at once", "parts": [{**part, "name": "same"} for part in parts]}
    plans = [reply(submit(wrong)), reply(submit({"summary": "one after the other", "parts": parts}))]
    first = refactoring("first", edit(f"{ONE}.split()[:2])\n", TWO))
    then = refactoring("then", edit(TWO, THREE))  # fits only where the first part stands already
    model = data.model({**good_script(), **first, **then, "plan": plans})
    done = data.run("start", "Make initials easier to read", "--split", "--json", "--model", model)
    assert done.code == 0, done.out + done.err
    rows = {row["part"]: row for row in done.json["parts"]}
    assert [(name, row["repo"], row["outcome"]) for name, row in rows.items()] == [
        ("first", "data", "delivered"),
        ("then", "data", "delivered"),
    ]
    below, above, task = rows["first"]["branch"], rows["then"]["branch"], rows["then"]["task_id"]
    assert data.git("rev-parse", f"{above}^", f"{below}^").split() == data.git("rev-parse", below, "main").split()
    assert data.git("diff", "--name-only", below, above).split() == ["tests/test_then.py", "textkit.py"]
    assert data.run("replay", task).code == 0
    assert data.run("verify", task).code == 0
    assert f"the part of data (then) in {done.json['task_id']}" in audit(data, task)
    assert f"git diff {below}...{above}" in data.run("status", task).out
    assert "data (then): " in data.run("status", done.json["task_id"]).out


def making(file: str, name: str, body: str, **green: Any) -> dict[str, Any]:
    """Replies that deliver a new function `name(text)`, which makes a slug, in a file."""
    from tests.support.world import analysis, edit, good_script, intake, reply, specification, submit, suite, write

    module, path = file.removesuffix(".py"), f"tests/test_{name}.py"
    symbol = {"name": name, "file": file, "signature": "(text: str) -> str", "change": "new"}
    examples = [f"{name}('Hello World') -> 'hello-world'", f"{name}('') -> ''"]
    places = (
        {"files_to_modify": [file], "files_to_create": []}
        if green
        else {"files_to_modify": [], "files_to_create": [file]}
    )
    tests = (
        f"def test_words():\n    from {module} import {name}\n\n    assert {name}('Hello World') == 'hello-world'\n\n\n"
        f"def test_nothing():\n    from {module} import {name}\n\n    assert {name}('') == ''\n    assert {name}('A') == 'a'\n"
    )
    rows = [("test_words", "REQ-001.1", "target"), ("test_nothing", "REQ-001.2", "target")]
    change = edit(*green["edit"], path=file) if green else write(file, body)
    made = submit({"files_modified": [{"path": file, "changes_summary": "as asked"}]})
    return good_script(
        intake=[reply(submit(intake(goal=f"{name}(text) makes a slug", examples=examples[:1])))],
        analyze=[reply(submit(analysis()))],
        spec=[reply(submit(specification(examples, symbol, title=f"Add {name}", **places)))],
        red=[reply(write(path, tests), submit(suite(path, *rows)))],
        green=[reply(change, made)],
    )


SLUG = 'def slug(text: str) -> str:\n    """Lower the text and join its words by hyphens."""\n    return "-".join(text.lower().split())\n'


def test_what_one_repository_delivered_can_be_imported_by_the_tests_of_the_next(two: dict[str, World]) -> None:
    data, api = two.values()
    model = data.model(making("datakit.py", "slug", f'"""Slugs."""\n\n\n{SLUG}'))
    first = data.run(
        "start", "Add slug(text) in datakit.py: slug('Hello World') -> 'hello-world'", "--json", "--model", model
    )
    assert first.code == 0, first.out + first.err
    assert not (data.repo / "datakit.py").exists()  # it stands on the delivered branch alone

    calls = '\n\ndef title(text: str) -> str:\n    """Make a slug of a title."""\n    from datakit import slug\n\n    return slug(text)\n'
    last = "    return text.lower()\n"
    model = api.model(making("textkit.py", "title", "", edit=(last, last + calls)))
    asked = "Add title(text) to textkit: title('Hello World') -> 'hello-world'"
    then = api.run("start", asked, "--after", f"data/{first.json['task_id']}", "--json", "--model", model)
    assert then.code == 0, then.out + then.err
    assert then.json["outcome"] == "delivered"
    verified = api.run("verify", then.json["task_id"], "--rerun").out
    assert all(f"ok    rerun {name}" in verified for name in ("baseline", "red", "refactor")), verified
