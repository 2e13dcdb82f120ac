"""Swarm build: writers in worktrees of their own; patches merged, tested, taken over after approval, taken back as one."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash import run_slash
from agentforge.events import kinds
from agentforge.store.log.reader import read
from tests.support.people import Asked, Open

PARTS = [{"goal": "the sum", "files": ["a.py"]}, {"goal": "its test", "files": ["b.py", "tests/**"]}]
START = {"tool_calls": [{"name": "subagent_writers", "args": {"parts": PARTS}}]}


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    return subprocess.run(["git", "-C", str(folder), *names, *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    (folder / "a.py").write_text("def one():\n    return 1\n")
    (folder / "b.py").write_text("B = 1\n")
    (folder / "tests" / "test_a.py").write_text("from a import one\n\n\ndef test_one():\n    assert one() == 1\n")
    (folder / "conftest.py").write_text("")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    (folder / "draft.txt").write_text("not committed\n")
    return folder


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    return {**environ, "PATH": "/usr/bin:/bin"}


def writes(**files: str) -> dict[str, Any]:
    names = {name.replace("__", "/").replace("_py", ".py"): text for name, text in files.items()}
    return {
        "tool_calls": [{"name": "write_file", "args": {"path": path, "content": text}} for path, text in names.items()]
    }


def merge(chat: Chat) -> dict[str, Any]:
    return {"tool_calls": [{"name": "merge_swarm", "args": {"patch": str(chat.state.talk.merges[-1]["patch"])}}]}


GOOD = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


def both(last: dict[str, Any] | None = None, **files: str) -> dict[str, Any]:
    """Both writers write the same files; each may change its own alone. `last` begins the second turn."""
    chat = [START, {"text": "Done."}, *([last, {"text": "Done."}] if last else [])]
    return {"chat": chat, "writer": [writes(**files), {"text": "Wrote it."}]}


def test_writers_change_nothing_until_the_merged_patch_was_approved_and_then_all_of_it(
    opened: Open, project: Path
) -> None:
    person = Asked("reject")
    chat = opened(both(a_py=GOOD, b_py="B = 2\n"), person)
    reply = run_slash(chat, '/swarm build "add two"')
    assert reply.ok, reply.text
    assert "not taken over: a.py, b.py" in reply.text
    (row,) = chat.state.talk.merges
    assert (row["paths"], row["passed"]) == (["a.py", "b.py"], True), merged_event(chat)
    assert person.questions == []
    assert (project / "b.py").read_text() == "B = 1\n"
    assert git(project, "status", "--porcelain") == "?? draft.txt\n"
    assert git(project, "worktree", "list").count("\n") == 1
    event = merged_event(chat)
    assert "1 of 1 tests pass on the merged files" in event.tests
    assert [child["outcome"] for child in chat.state.talk.children] == ["completed", "completed"]
    again = both(merge(chat))
    again["chat"] += again["chat"][-2:]
    chat = opened(again, person, session=close(chat))
    chat.change(work_mode="swarm-build")
    chat.say("take it")
    assert (project / "b.py").read_text() == "B = 1\n"
    assert [(question.tool, "+B = 2" in question.diff) for question in person.questions] == [("merge_swarm", True)]
    chat = opened(again, Asked("once"), session=close(chat))
    chat.say("take it now")
    assert ((project / "a.py").read_text(), (project / "b.py").read_text()) == (GOOD, "B = 2\n")
    assert (project / "draft.txt").read_text() == "not committed\n"
    assert git(project, "log", "--oneline").count("\n") == 1


def close(chat: Chat) -> str:
    chat.close()
    return chat.session_id


def merged_event(chat: Chat) -> kinds.WritersMerged:
    found = [one.event for one in read(chat.log.folder) if isinstance(one.event, kinds.WritersMerged)]
    return found[-1]


def test_what_breaks_the_tests_is_not_merged_whoever_approves(opened: Open, project: Path) -> None:
    chat = opened(both(a_py="def one():\n    return 3\n"))
    chat.change(work_mode="swarm-build")
    chat.say("break it")
    event = merged_event(chat)
    assert (event.passed, "tests/test_a.py::test_one" in event.tests) == (False, True)
    again = opened(both(merge(chat)), approval="yolo", session=close(chat))
    again.say("take it")
    assert (project / "a.py").read_text() == "def one():\n    return 1\n"


def test_tests_that_are_gone_are_broken(opened: Open) -> None:
    shell = {"tool_calls": [{"name": "shell", "args": {"command": "rm tests/test_a.py"}}]}
    chat = opened({"chat": [START, {"text": "Done."}], "writer": [shell, {"text": "Gone."}]}, approval="yolo")
    chat.change(work_mode="swarm-build")
    chat.say("break it")
    event = merged_event(chat)
    assert (event.paths, event.passed) == (("tests/test_a.py",), False)
    assert "broken: tests/test_a.py::test_one" in event.tests


def test_a_writer_keeps_to_its_own_files(opened: Open) -> None:
    shell = {"tool_calls": [{"name": "shell", "args": {"command": "echo x > b.py; echo y > other.txt"}}]}
    script = {"chat": [START, {"text": "Done."}], "writer": [shell, writes(a_py=GOOD), {"text": "Wrote it."}]}
    chat = opened(script, approval="yolo")
    chat.change(work_mode="swarm-build")
    chat.say("go")
    event = merged_event(chat)
    assert event.paths == ("a.py", "b.py")  # of the first writer a.py, of the second b.py
    left = {(row["path"], row["writer"], row["reason"]) for row in event.conflicts}
    assert ("other.txt", 1, "it is not this writer's file") in left
    assert ("b.py", 1, "it is not this writer's file") in left


def test_writers_are_offered_in_their_mode_alone_and_share_no_files(opened: Open) -> None:
    shared = [{"goal": "a", "files": ["a.py"]}, {"goal": "b", "files": ["a.py"]}]
    bad = {"tool_calls": [{"name": "subagent_writers", "args": {"parts": shared}}]}
    chat = opened({"chat": [START, {"text": "no"}, bad, {"text": "no"}]}, approval="yolo")
    chat.say("go")
    chat.change(work_mode="swarm-build")
    chat.say("go")
    tools = [entry.text for entry in chat.state.talk.entries if entry.kind == "tool"]
    assert ("Tools of this stage" in tools[0], "may not share files: a.py" in tools[1]) == (True, True), tools
    assert run_slash(chat, "/plan").ok
    assert not run_slash(chat, "/swarm build x").ok
