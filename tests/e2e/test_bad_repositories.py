"""Repositories that no task can work in, or only with care, and projects whose tests misbehave."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.world import (
    IMPLEMENTED,
    REQUEST,
    TEXTKIT,
    analysis,
    children_below,
    edit,
    good_script,
    intake,
    make_world,
    reply,
    specification,
    submit,
    suite,
    write,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.world import Done, Script, World


def _question(*calls: tuple[str, dict[str, object]]) -> Script:
    """A request that ends after ANALYZE, with a step of these calls before its end."""
    steps = [reply(*calls)] if calls else []
    return good_script(
        intake=[reply(submit(intake("analyze", examples=[])))],
        analyze=[*steps, reply(submit(analysis(findings=["it does"])))],
    )


def _removal() -> Script:
    """A request whose delivery needs few test runs: a function goes, its neighbour is guarded."""
    test = "from textkit import shout\n\n\ndef test_shout_stays():\n    assert shout('ho') == 'HO!'\n"
    symbol = {"name": "mumble", "signature": "(text: str) -> str", "change": "removed"}
    criteria = ["mumble is gone, shout('ho') -> 'HO!'"]
    return good_script(
        intake=[reply(submit(intake("delete", examples=[])))],
        spec=[reply(submit(specification(criteria, symbol, title="Remove mumble")))],
        red=[
            reply(
                write("tests/test_new.py", test),
                submit(suite("tests/test_new.py", ("test_shout_stays", "REQ-001.1", "guard"))),
            )
        ],
        green=[reply(edit(TEXTKIT[TEXTKIT.index("\n\ndef mumble") :], ""), IMPLEMENTED)],
    )


def _refused(done: Done, *, slug: str, word: str) -> None:
    assert done.code == 2, done.out + done.err
    assert (done.json["outcome"], done.json["error"]["slug"]) == ("failed", slug)
    assert word in done.err
    assert "Traceback" not in done.err


def test_a_folder_without_git_is_refused(tmp_path: Path, pycache: Path) -> None:
    world = make_world(tmp_path / "repo", tmp_path / "home", pycache=pycache, git=False)
    _refused(world.start(), slug="repository", word="git init")
    assert not (world.repo / ".agentforge").exists()


def test_a_repository_without_commits_is_refused(world: World) -> None:
    shutil.rmtree(world.repo / ".git")
    world.git("init", "-q")
    _refused(world.start(), slug="repository", word="commit")
    assert not (world.repo / ".agentforge").exists()


def test_a_bare_repository_is_refused(world: World, tmp_path: Path) -> None:
    world.git("clone", "-q", "--bare", str(world.repo), str(tmp_path / "bare.git"))
    done = world.run("start", REQUEST, "--model", world.model(), "--json", cwd=tmp_path / "bare.git")
    _refused(done, slug="repository", word="bare")


@pytest.mark.parametrize("name", [b"two\nlines", b"caf\xe9"], ids=["a line break", "no UTF-8"])
def test_a_repository_in_a_folder_of_any_name_delivers(tmp_path: Path, pycache: Path, name: bytes) -> None:
    world = make_world(tmp_path / os.fsdecode(name), tmp_path / "home", pycache=pycache)
    done = world.start()
    assert done.json["outcome"] == "delivered", done.out + done.err
    bundle = str(tmp_path / "run.afbundle")
    for words in (
        ("verify", world.task),
        ("bundle", world.task, "-o", bundle),
        ("verify", bundle),
        ("replay", world.task),
    ):
        assert (told := world.run(*words)).code == 0, told.out + told.err


def test_files_of_any_name_are_no_obstacle(world: World) -> None:
    for name in (b"a\nb.txt", b"caf\xe9.txt", b"tab\t.py", b'quote".py', b"-dash", b":(top)x", b"\x1b[31m.txt"):
        with open(os.fsencode(world.repo) + b"/" + name, "wb") as file:  # noqa: PTH123 - no text names it
            file.write(b"x = 1\n")
    world.commit_all("odd names")
    done = world.start()
    assert done.json["outcome"] == "delivered", done.out + done.err
    bundle = str(world.home / "run.afbundle")
    for words in (("verify", world.task), ("bundle", world.task, "-o", bundle), ("verify", bundle)):
        assert (told := world.run(*words)).code == 0, told.out + told.err


def test_a_detached_head_delivers(world: World) -> None:
    world.git("checkout", "-q", "--detach")
    done = world.start(None)
    assert done.json["outcome"] == "delivered", done.out
    assert world.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert world.view("task.yaml")["base_ref"] is None


def test_a_submodule_does_not_hinder(world: World, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(world.repo, other)
    world.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "vendored")
    world.commit_all("with a submodule")
    done = world.start(_question(("list_dir", {"path": "."}), ("read_file", {"path": "textkit.py"})))
    assert done.json["outcome"] == "analyzed", done.out
    inside = world.run("start", REQUEST, "--model", world.model(_question()), "--json", cwd=world.repo / "vendored")
    assert inside.json["repo"] == str(world.repo / "vendored"), inside.out


@pytest.mark.parametrize("request_text", ["", "  \n\t "])
def test_an_empty_request_is_refused(world: World, request_text: str) -> None:
    _refused(world.start(request=request_text), slug="usage", word="empty")
    assert not (world.repo / ".agentforge" / "tasks").exists()


def test_a_request_of_100_kb_stays_within_the_budget_and_is_kept_whole(world: World) -> None:
    text = "Say how textkit shouts. " + "Consider every detail of it. " * 3500
    done = world.run(*("start", "-", "--model", world.model(_question()), "--json"), stdin=text.encode())
    assert done.json["outcome"] == "analyzed", done.out
    assert len(done.json["request"]) > 100_000
    assert all(record["data"]["context_tokens"] <= 8000 for record in world.events("ModelCalled"))
    assert len(done.json["task_id"]) < 80


def test_no_model_is_told_with_the_ways_to_get_one(world: World) -> None:
    done = world.run("start", REQUEST, "--json")
    _refused(done, slug="no-model", word="--model")
    assert not (world.repo / ".agentforge" / "tasks").exists()


@pytest.mark.parametrize("model", ["scripted//nowhere.yaml", "custom/m", "nobody/m", "name"])
def test_a_task_that_cannot_begin_leaves_nothing_that_looks_like_one(world: World, model: str) -> None:
    done = world.run("start", REQUEST, "--model", model, "--json")
    assert done.code == 2, done.out
    assert not list((world.repo / ".agentforge" / "tasks").glob("*"))
    listed = world.run("status", "--json")
    assert (listed.code, listed.json) == (0, []), listed.out


def test_a_project_without_tests_delivers_and_says_so(world: World) -> None:
    shutil.rmtree(world.repo / "tests")
    world.commit_all("no tests")
    done = world.start(_removal())
    assert done.json["outcome"] == "delivered", done.out
    limits = world.view("artifacts/phases/deliver/delivery_report.yaml")["limits"]
    assert any("no tests at the base" in text for text in limits)


def test_a_suite_that_hangs_is_stopped_and_a_human_is_asked(world: World) -> None:
    (world.repo / "tests" / "test_hang.py").write_text("import time\n\n\ndef test_hang():\n    time.sleep(60)\n")
    world.commit_all("hangs")
    world.settings("[test]\ntimeout = 1.5\n")
    done = world.start(None, "--max-steps", "2")
    assert (done.code, done.json["outcome"], done.json["stage"]) == (3, "escalated", "analyze"), done.out
    (asked,) = done.json["escalations"]
    assert "did not end in time" in asked["reason"]
    assert children_below(world.repo) == []
    world.settings('[test]\ntimeout = 60\ncommand = "pytest --ignore=tests/test_hang.py"\n')
    resumed = world.run("resolve", "E1", "--answer", "again", "--resume", "--json")
    assert (resumed.code, resumed.json["steps"]) == (6, 2), resumed.out
    first, second = (row["data"]["facts"] for row in world.events("FactsGathered") if row["data"]["name"] == "baseline")
    assert (first["measured"], second["measured"], second["failing"]) == (False, True, [])


def test_a_test_that_needs_the_network_fails_at_the_base_and_is_not_blamed_on_the_change(world: World) -> None:
    test = "import socket\n\n\ndef test_net():\n    socket.create_connection(('192.0.2.1', 80), timeout=0.5).close()\n"
    (world.repo / "tests" / "test_net.py").write_text(test)
    world.commit_all("needs the network")
    done = world.start(_removal())
    assert done.json["outcome"] == "delivered", done.out
    report = world.view("artifacts/phases/deliver/delivery_report.yaml")
    assert report["verification"]["failing_at_base"] == ["tests/test_net.py::test_net"]


def test_binary_and_huge_files_are_named_and_never_shown(world: World) -> None:
    (world.repo / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0" + bytes(range(256)) * 40)
    (world.repo / "huge.txt").write_bytes(b"shout is a word here\n" * 2_500_000)
    world.commit_all("large")
    script = _question(
        *(("read_file", {"path": "logo.png"}), ("read_file", {"path": "huge.txt"})),
        *(("grep", {"pattern": "shout"}), ("outline", {"path": "huge.txt"}), ("edit", {"path": "logo.png"})),
    )
    done = world.start(script)
    assert done.json["outcome"] == "analyzed", done.out
    finished = {row["data"]["name"]: row["data"] for row in world.events("ToolFinished")}
    assert finished["edit"]["status"] == "error"
    assert all(len(row["text"]) < 60_000 for row in finished.values())
    assert all(record["data"]["context_tokens"] <= 8000 for record in world.events("ModelCalled"))


def test_a_base_line_that_sees_next_to_nothing_names_the_cause_and_goes_on_only_when_told(world: World) -> None:
    for number in range(5):
        text = f"import nowhere_{number % 4 // 3}\n\n\ndef test_{number}():\n    assert nowhere_0\n"
        (world.repo / "tests" / f"test_more_{number}.py").write_text(text)
    (world.repo / "requirements-dev.txt").write_text("pytest\nnowhere-0>=2\n")
    world.commit_all("tests of what is not installed")
    done = world.start(_removal())
    assert (done.code, done.json["outcome"], done.json["stage"]) == (3, "escalated", "analyze"), done.out
    (asked,) = done.json["escalations"]
    assert (
        "4 test files cannot run: the module nowhere_0 is missing (tests/test_more_0.py, tests/test_more_1.py"
        in asked["reason"]
    )
    assert "-m pip install -r requirements-dev.txt" in asked["reason"]
    assert (asked["options"], "all 2 tests pass" in asked["question"]) == (["again", "go on"], True)

    again = world.run("resolve", "E1", "--answer", "again", "--resume", "--json")
    assert [row["options"] for row in again.json["escalations"]][-1] == ["again", "go on"]
    resumed = world.run("resolve", "E2", "--answer", "go on", "--resume", "--json")
    assert resumed.json["outcome"] == "delivered", resumed.out + resumed.err
    limits = world.view("artifacts/phases/deliver/delivery_report.yaml")["limits"]
    assert any("the module nowhere_0 is missing" in one for one in limits), limits


def test_a_conftest_that_cannot_be_loaded_is_named_with_what_it_misses(world: World) -> None:
    (world.repo / "tests" / "conftest.py").write_text("import nowhere\n")
    world.commit_all("a conftest of what is not installed")
    done = world.start(None, "--max-steps", "2")
    (asked,) = done.json["escalations"]
    assert "the module nowhere is missing" in asked["reason"] and "pip install nowhere" in asked["reason"]


def test_a_suite_that_is_too_slow_gets_more_time_when_a_human_says_so(world: World) -> None:
    (world.repo / "tests" / "test_slow.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(5)\n")
    world.commit_all("slow")
    world.settings("[test]\ntimeout = 3\n")
    done = world.start(_removal())
    (asked,) = done.json["escalations"]
    assert (done.json["stage"], asked["options"]) == ("analyze", ["again", "longer"])
    resumed = world.run("resolve", "E1", "--answer", "longer", "--resume", "--json")
    bases = [row["data"]["facts"] for row in world.events("FactsGathered") if row["data"]["name"] == "baseline"]
    assert [base["measured"] for base in bases] == [False, True], resumed.out
