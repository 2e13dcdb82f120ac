"""Swarm: a question is split, answered side by side, merged, and its evidence looked up."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agentforge.app.slash import run_slash
from agentforge.app.subagents.swarm import check_evidence
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from tests.support.people import Open, Watching

GOALS = [{"goal": "where it starts"}, {"goal": "where it ends", "subagent": "architect"}]
FAN = {"tool_calls": [{"name": "subagent_swarm", "args": {"goals": GOALS}}]}


@pytest.fixture
def project(project: Path) -> Path:
    (project / "a.py").write_text("one\ntwo\n")
    return project


def test_a_question_is_split_answered_side_by_side_and_its_evidence_checked(opened: Open) -> None:
    both = threading.Barrier(2, timeout=20)

    def watch(_name: str, event: Event, _state: RunState) -> None:
        if isinstance(event, kinds.ModelReplied):
            both.wait()  # passes only when both are under way

    script = {
        "chat": [FAN, {"text": "It starts in a.py:1 and ends in a.py:7."}],
        "explore": [{"text": "starts at a.py:1, see gone.py:3"}],
        "architect": [{"text": "ends at a.py:2"}],
    }
    chat = opened(script, Watching(watch))
    reply = run_slash(chat, '/swarm investigate "where?"')
    assert reply.ok, reply.text
    assert "2 subagents; evidence: 1 of 2 places are there; not there: a.py:7 (the file has 2 lines)" in reply.text
    tool = next(entry for entry in chat.state.talk.entries if entry.kind == "tool")
    assert "not there: gone.py:3 (no such file)" in tool.text
    assert [child["name"] for child in chat.state.talk.children] == ["explore", "architect"]
    assert chat.workshop.work_mode == "build"
    assert dict(chat.state.talk.settings["swarm"])["missing"] == ["a.py:7 (the file has 2 lines)"]  # type: ignore[call-overload]


def test_swarm_mode_changes_nothing_and_one_goal_is_no_swarm(opened: Open, tmp_path: Path) -> None:
    one = {"tool_calls": [{"name": "subagent_swarm", "args": {"goals": GOALS[:1]}}]}
    writes = {"tool_calls": [{"name": "write_file", "args": {"path": "x", "content": "x"}}]}
    chat = opened({"chat": [one, writes, {"text": "By myself."}]}, approval="yolo")
    run_slash(chat, "/swarm")
    assert chat.say("go").text == "By myself."
    errors = [entry.status for entry in chat.state.talk.entries if entry.kind == "tool"]
    assert (errors, chat.state.talk.children) == (["error", "error"], ())
    assert not (tmp_path / "project" / "x").exists()


def test_the_fan_out_is_not_offered_in_other_modes(opened: Open) -> None:
    chat = opened({"chat": [FAN, {"text": "Done."}]})
    chat.say("go")
    assert [entry.status for entry in chat.state.talk.entries if entry.kind == "tool"] == ["error"]


@pytest.mark.parametrize(
    ("text", "found", "missing"),
    [
        ("a.py:1-2 and a.py:2", 2, 0),
        ("a.py:0, a.py:3, a.py:1-9", 0, 3),
        ("../out.py:1", 0, 1),
        ("/etc/hosts.conf:1 http://x.org:80", 0, 0),
        ("sub/link.py:1", 0, 1),
        ("nothing here: 12:30", 0, 0),
    ],
)
def test_places_are_looked_up_inside_the_folder_only(tmp_path: Path, text: str, found: int, missing: int) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.py").write_text("one\ntwo\n")
    (tmp_path / "out.py").write_text("secret\n")
    (root / "sub" / "link.py").symlink_to(tmp_path / "out.py")
    evidence = check_evidence(text, root)
    assert (len(evidence.found), len(evidence.missing)) == (found, missing)


def test_swarm_mode_holds_for_tools_that_look_and_write(opened: Open) -> None:
    keeps = {"tool_calls": [{"name": "memory", "args": {"action": "set", "key": "k", "value": "v"}}]}
    chat = opened({"chat": [keeps, {"text": "Well."}]}, approval="yolo", work_mode="swarm")
    assert chat.say("remember it").swarm["subagents"] == 0
    tool = next(entry for entry in chat.state.talk.entries if entry.kind == "tool")
    assert (tool.status, "swarm mode changes nothing" in tool.text) == ("denied", True)


def test_a_session_begun_as_a_swarm_tells_what_became_of_the_evidence(opened: Open) -> None:
    script = {"chat": [FAN, {"text": "In a.py:1."}], "explore": [{"text": "a.py:1"}], "architect": [{"text": "a.py:2"}]}
    result = opened(script, work_mode="swarm").say("where?")
    assert dict(result.swarm) == {
        "subagents": 2, "found": ["a.py:1"], "missing": [], "told": "2 subagents; evidence: 1 of 1 places are there",
    }  # fmt: skip
