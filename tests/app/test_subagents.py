"""Subagents: child runs with their own log, side by side, bounded, counted by their parent."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agentforge.app.sessions.chat import Chat
from agentforge.app.subagents.delegation import child_id
from agentforge.config.trust import grant, trusted
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.session.subagents import Subagent
from agentforge.store.log.reader import read
from agentforge.store.log.records import utc_now
from tests.support.people import Asked, Open, Watching
from tests.support.run_states import with_fields

TWO = {
    "tool_calls": [
        {"name": f"subagent_{name}", "args": {"goal": f"goal of {name}"}} for name in ("explore", "architect")
    ]
}
ONE = {"tool_calls": [{"name": "subagent_explore", "args": {"goal": "find it"}}]}
LOOK = {"tool_calls": [{"name": "read_file", "args": {"path": "a.txt"}}]}


@pytest.fixture
def project(project: Path) -> Path:
    (project / "a.txt").write_text("alpha\n")
    return project


def events_of(chat: Chat, child: str) -> list[Event]:
    return [record.event for record in read(chat.log.folder.parent / child)]


def test_a_report_comes_back_fenced_and_its_tokens_count_in_the_parent(opened: Open) -> None:
    chat = opened({"chat": [ONE, {"text": "Done."}], "explore": [LOOK, {"text": "It is in a.txt:1."}]})
    assert chat.say("where is it?").text == "Done."
    result = next(entry for entry in chat.state.talk.entries if entry.kind == "tool")
    assert "<untrusted" in result.text and "It is in a.txt:1." in result.text
    (child,) = chat.state.talk.children
    assert (child["name"], child["outcome"], child["usage"]["llm_calls"]) == ("explore", "completed", 2)  # type: ignore[index]
    assert chat.state.usage.totals.llm_calls == 4
    assert "subagent" in chat.state.progress.untrusted
    started = events_of(chat, str(child["child"]))[0]
    assert isinstance(started, kinds.RunStarted)
    assert (started.kind, started.parent) == ("subagent", chat.session_id)


def test_subagents_of_one_reply_run_side_by_side_after_all_intents_are_durable(opened: Open) -> None:
    both = threading.Barrier(2, timeout=20)
    seen: list[int] = []

    def watch(_name: str, event: Event, _state: RunState) -> None:
        if isinstance(event, kinds.ModelReplied):
            seen.append(len(chat.state.talk.children))
            both.wait()  # passes only when both are under way

    script = {"chat": [TWO, {"text": "Done."}], "explore": [{"text": "one"}], "architect": [{"text": "two"}]}
    chat = opened(script, Watching(watch))
    assert chat.say("both").text == "Done."
    assert seen == [2, 2]
    assert [entry.name for entry in chat.state.talk.entries if entry.kind == "tool"] == [
        "subagent_explore",
        "subagent_architect",
    ]
    assert [child["outcome"] for child in chat.state.talk.children] == ["completed", "completed"]


def test_what_one_subagent_meets_does_not_hurt_the_other(opened: Open) -> None:
    script = {
        "chat": [TWO, {"text": "Done."}],
        "explore": [{"error": {"status": 400, "message": "no"}}],
        "architect": [{"text": "two"}],
    }
    chat = opened(script)
    assert chat.say("both").text == "Done."
    assert [child["outcome"] for child in chat.state.talk.children] == ["failed", "completed"]
    assert [entry.status for entry in chat.state.talk.entries if entry.kind == "tool"] == ["error", "success"]


def test_a_refused_call_keeps_its_place_in_the_order(opened: Open) -> None:
    broken = {
        "tool_calls": [{"name": "subagent_explore", "args": {"goal": "x"}}, {"name": "subagent_architect", "raw": "{"}]
    }
    broken["tool_calls"].reverse()
    chat = opened({"chat": [broken, {"text": "Done."}], "explore": [{"text": "one"}]})
    assert chat.say("both").text == "Done."
    tools = [(entry.name, entry.status) for entry in chat.state.talk.entries if entry.kind == "tool"]
    assert tools == [("subagent_architect", "error"), ("subagent_explore", "success")]


def test_a_subagent_of_our_own_cannot_write_even_when_its_parent_may_do_all(opened: Open, project: Path) -> None:
    wants = {
        "tool_calls": [
            {"name": "write_file", "args": {"path": "x.txt", "content": "x"}},
            {"name": "subagent_explore", "args": {"goal": "deeper"}},
            {"name": "shell", "args": {"command": "touch y.txt"}},
        ]
    }
    chat = opened({"chat": [ONE, {"text": "Done."}], "explore": [wants, {"text": "no"}]}, approval="yolo")
    chat.say("go")
    child = str(chat.state.talk.children[0]["child"])
    results = [event for event in events_of(chat, child) if isinstance(event, kinds.ToolFinished)]
    assert [result.error_type for result in results] == ["unknown-tool"] * 3
    assert sorted(path.name for path in project.iterdir()) == [".git", "a.txt"]


WRITER = """
[[subagents]]
name = "writer"
description = "Writes."
goal_prompt = "Write what the goal says."
max_turns = 3
"""
WRITES = {"tool_calls": [{"name": "write_file", "args": {"path": "new.txt", "content": "new"}}]}
WRITE = {"tool_calls": [{"name": "subagent_writer", "args": {"goal": "write it"}}]}


def define(folder: Path, text: str = WRITER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)


def test_a_subagent_of_the_project_exists_only_after_trust(
    opened: Open, project: Path, environ: dict[str, str]
) -> None:
    define(project / ".agentforge")
    script = {"chat": [WRITE, {"text": "Done."}], "writer": [WRITES, {"text": "written"}]}
    chat = opened(script, approval="auto")
    chat.say("go")
    assert not (project / "new.txt").exists()
    assert any("not trusted" in notice for notice in chat.workshop.around.project.notices)
    grant(trusted(project, environ), environ, now=utc_now())
    chat = opened(script, approval="auto")
    chat.say("go")
    assert (project / "new.txt").read_text() == "new"


def test_a_subagent_has_no_wider_rights_than_plan_mode(opened: Open, project: Path, tmp_path: Path) -> None:
    define(tmp_path / "home" / "config")
    chat = opened(
        {"chat": [WRITE, {"text": "Done."}], "writer": [WRITES, {"text": "no"}]}, approval="yolo", work_mode="plan"
    )
    chat.say("go")
    assert chat.state.talk.children[0]["outcome"] == "completed"
    assert not (project / "new.txt").exists()


def test_the_person_is_asked_in_the_name_of_the_subagent_and_always_holds_for_all(
    opened: Open, project: Path, tmp_path: Path
) -> None:
    define(tmp_path / "home" / "config")
    person = Asked("once")
    chat = opened({"chat": [WRITE, {"text": "Done."}], "writer": [WRITES, {"text": "written"}]}, person)
    chat.say("go")
    assert [question.reason.startswith("subagent writer: ") for question in person.questions] == [True]
    assert (project / "new.txt").read_text() == "new"
    assert chat.state.talk.changed_paths == ("new.txt",)
    child = str(chat.state.talk.children[0]["child"])
    assert any(isinstance(event, kinds.ApprovalAnswered) for event in events_of(chat, child))


def test_before_a_subagent_can_change_the_folder_a_checkpoint_is_made(
    opened: Open, project: Path, tmp_path: Path
) -> None:
    define(tmp_path / "home" / "config")
    script = {"chat": [ONE, WRITE, {"text": "Done."}], "explore": [{"text": "x"}], "writer": [WRITES, {"text": "ok"}]}
    chat = opened(script, approval="yolo")
    chat.say("go")
    names = [type(record.event).__name__ for record in read(chat.log.folder)]
    assert names.count("CheckpointMade") == 1
    assert names.index("ChildStarted") < names.index("CheckpointMade") < len(names) - names[::-1].index("ChildStarted")
    chat.workshop.checkpoints.undo()
    assert not (project / "new.txt").exists()


def test_one_checkpoint_stands_before_several_subagents_that_can_change_the_folder(
    opened: Open, tmp_path: Path
) -> None:
    define(tmp_path / "home" / "config")
    pair = {"tool_calls": [*WRITE["tool_calls"], *WRITE["tool_calls"]]}
    chat = opened({"chat": [pair, {"text": "Done."}], "writer": [WRITES, {"text": "ok"}]}, approval="yolo")
    chat.say("go")
    names = [type(record.event).__name__ for record in read(chat.log.folder)]
    assert (names.count("CheckpointMade"), names.count("ChildStarted")) == (1, 2)
    assert names.index("CheckpointMade") < names.index("ChildStarted")


def test_a_subagent_ends_at_its_number_of_turns(opened: Open) -> None:
    chat = opened({"chat": [ONE, {"text": "Done."}], "explore": [LOOK] * 9})
    chat.workshop.around.subagents.known = {
        "explore": Subagent(name="explore", description="", goal_prompt="", max_turns=3)
    }
    chat.say("go")
    (child,) = chat.state.talk.children
    assert (child["outcome"], child["usage"]["llm_calls"]) == ("limit", 3)  # type: ignore[index]


def test_a_subagent_that_blocks_ends_at_its_time(opened: Open) -> None:
    sleeps = {"tool_calls": [{"name": "shell", "args": {"command": "sleep 60"}}]}
    chat = opened({"chat": [ONE, {"text": "Done."}], "explore": [sleeps, {"text": "late"}]}, approval="yolo")
    slow = Subagent(name="explore", description="", goal_prompt="", timeout_seconds=0.3)
    chat.workshop.around.subagents.known = {"explore": slow}
    assert chat.say("go").text == "Done."
    assert chat.state.talk.children[0]["outcome"] == "timeout"
    result = next(entry for entry in chat.state.talk.entries if entry.kind == "tool")
    assert (result.status, "0.3 s are over" in result.text) == ("error", True)


def test_the_budget_of_the_session_stops_subagents_before_their_next_call(opened: Open) -> None:
    usage = {"prompt_tokens": 400, "completion_tokens": 10}
    spends = [
        {"tool_calls": [{"name": "grep", "args": {"pattern": f"x{number}"}}], "usage": usage} for number in range(19)
    ]
    script = {"chat": [ONE, {"text": "Done."}], "explore": spends}
    chat = opened(script, limits={"budget_tokens": 6_000})
    chat.say("go")
    child = chat.state.talk.children[0]
    totals = chat.state.usage.totals
    assert child["outcome"] == "limit"
    assert totals.prompt_tokens + totals.completion_tokens <= 6_000


def test_stopping_the_turn_stops_all_its_subagents_and_counts_them(opened: Open) -> None:
    sleeps = {"tool_calls": [{"name": "shell", "args": {"command": "sleep 60"}}]}
    started = threading.Barrier(3, timeout=20)

    def watch(_name: str, event: Event, _state: RunState) -> None:
        if isinstance(event, kinds.ToolStarted):
            started.wait()

    chat = opened({"chat": [TWO], "explore": [sleeps], "architect": [sleeps]}, Watching(watch), approval="yolo")
    chat.workshop.around.subagents.known = {
        name: Subagent(name=name, description="", goal_prompt="") for name in ("explore", "architect")
    }

    def stop() -> None:
        started.wait()
        chat.stop()

    threading.Thread(target=stop).start()
    with pytest.raises(KeyboardInterrupt):
        chat.say("go")
    assert chat.state.talk.outcome == "interrupted"
    assert [child["outcome"] for child in chat.state.talk.children] == ["interrupted", "interrupted"]
    assert chat.state.usage.totals.llm_calls == 3


def test_a_subagent_in_doubt_goes_on_with_its_own_log(opened: Open) -> None:
    class Died(BaseException):
        """The process, in the middle of the subagent's second step."""

    def dies(_name: str, event: Event, _state: RunState) -> None:
        if isinstance(event, kinds.StepFinished):
            raise Died

    script = {"chat": [ONE, {"text": "Done."}], "explore": [LOOK, {"text": "found"}]}
    chat = opened(script, Watching(dies))
    with pytest.raises(Died):
        chat.say("go")
    chat.close()
    again = opened(script, session=chat.session_id)
    assert again.state.talk.open
    assert again.go_on().text == "Done."
    (child,) = again.state.talk.children
    assert (child["child"], child["outcome"]) == (child_id_of(again), "completed")
    events = events_of(again, str(child["child"]))
    assert sum(isinstance(event, kinds.UserSaid) for event in events) == 1
    assert sum(isinstance(event, kinds.ModelReplied) for event in events) == 2
    assert sum(isinstance(event, kinds.RunResumed) for event in events) == 1


def child_id_of(chat: Chat) -> str:
    from dataclasses import replace

    return child_id(with_fields(chat.state, turn=replace(chat.state.progress.turn, step=1)), 0)
