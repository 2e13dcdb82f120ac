"""Sessions at rest: listed, found, renamed, forked, deleted, imported, exported; their files in the older harness's shapes."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentforge.app.sessions import closed_sessions as sessions
from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody
from agentforge.app.sessions.report import exported, report_value
from agentforge.app.slash import run_slash
from agentforge.config.settings import load
from agentforge.errors import IntegrityError, LockedError, UsageError

Open = Callable[..., Chat]

_OLD = {
    "schema_version": 1,
    "session_id": "0a1b2c3d-0000-4000-8000-000000000001",
    "name": "old work",
    "created_at": "2026-05-21T12:00:00Z",
    "updated_at": "2026-05-21T12:30:00Z",
    "turn_count": 2,
    "config": {"model": {"name": "openrouter/free"}},
    "messages": [
        {"role": "user", "content": "look at a.py", "tool_call_id": None, "tool_calls": []},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "x", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}},
                {"id": "y", "type": "function", "function": {"name": "grep", "arguments": {"pattern": "z"}}},
            ],
        },
        {"role": "tool", "content": "1\tcode", "tool_call_id": "x"},
        {"role": "tool", "content": "nobody asked", "tool_call_id": "lost"},
        {"role": "user", "content": "and b.py"},
        {"role": "assistant", "content": "", "tool_calls": []},
    ],
    "todos": {"t1": "write tests"},
    "mode": "plan",
    "active_skills": ["tdd"],
}


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "AGENTFORGE_HOME": str(home / "af")}


@pytest.fixture
def data(home: Path) -> Path:
    return home / "af" / "data"


@pytest.fixture
def open_chat(tmp_path: Path, environ: dict[str, str]) -> Open:
    folder = tmp_path / "project"
    folder.mkdir()
    script = tmp_path / "script.yaml"
    replies = [{"tool_calls": [{"name": "list_dir", "args": {}}]}, *({"text": f"Answer {n} & <b>."} for n in range(9))]
    script.write_text(yaml.safe_dump({"chat": replies}))

    def open_one(session: str = "", **more: Any) -> Chat:
        options = ChatOptions(cwd=folder, session=session, model=f"scripted/{script}", approval="yolo", **more)
        return Chat.open(options, Nobody(), settings=load(folder, environ), environ=environ)

    return open_one


def _old(data: Path, value: Mapping[str, Any] = _OLD, *, folder: str = "sessions", name: str = "") -> str:
    place = data / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name or value['session_id']}.json").write_text(json.dumps(value))
    return str(value["session_id"])


def test_the_files_of_a_session_have_the_older_harness_shapes(open_chat: Open, data: Path) -> None:
    with open_chat() as chat:
        chat.say("hello")
        run_slash(chat, "/checkpoint")
        name = chat.session_id
    snapshot = json.loads((data / "sessions" / f"{name}.json").read_text())
    assert {*_OLD, "cwd", "latest_usage", "total_usage", "active_tools", "mcp_servers", "event_sequence"} <= {*snapshot}
    assert snapshot["messages"][1]["tool_calls"][0]["function"]["name"] == "list_dir"
    assert snapshot["messages"][2]["role"] == "tool"
    assert {"prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens"} == {*snapshot["total_usage"]}
    lines = [json.loads(line) for line in (data / "events" / f"{name}.jsonl").read_text().splitlines()]
    assert [line["type"] for line in lines] == [
        "agent_start", "tool_call_start", "tool_call_complete", "text_complete", "agent_end",
    ]  # fmt: skip
    assert [line["sequence"] for line in lines] == [1, 2, 3, 4, 5]
    assert {"schema_version", "session_id", "turn", "timestamp", "payload"} <= {*lines[0]}
    (checkpoint,) = (data / "checkpoints").iterdir()
    assert checkpoint.stem.startswith(f"{name}_20")
    for path in (data / "sessions", data / "events", data / "checkpoints"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in path.iterdir())


def test_event_lines_grow_over_a_resume_without_repeats(open_chat: Open, data: Path) -> None:
    with open_chat() as chat:
        chat.say("one")
        name = chat.session_id
    with open_chat(name) as chat:
        chat.say("two")
    lines = [json.loads(line) for line in (data / "events" / f"{name}.jsonl").read_text().splitlines()]
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    assert [line["payload"]["message"] for line in lines if line["type"] == "agent_start"] == ["one", "two"]


def test_a_session_of_the_older_harness_goes_on(open_chat: Open, data: Path) -> None:
    name = _old(data)
    with open_chat(name[:8]) as chat:
        talk = chat.state.talk
        assert [entry.kind for entry in talk.entries] == ["user", "assistant", "tool", "tool", "user"]
        assert "a call without a result was answered: grep" in chat.notes
        assert "a result without its call was left out: lost" in chat.notes
        assert (talk.todos, talk.settings["name"], chat.workshop.work_mode) == (
            {"t1": "write tests"},
            "old work",
            "plan",
        )
        chat.say("go on")
        assert chat.state.talk.turn == 3
    assert [row.session_id for row in sessions.all_sessions(chat.workshop.environ)] == [name]


@pytest.mark.parametrize(
    "content",
    ["", "{", '{"schema_version": 1, "messages": [{"role": "us', "[]", '{"schema_version": 9, "messages": []}'],
)
def test_a_cut_or_foreign_file_is_refused_by_name(open_chat: Open, data: Path, content: str) -> None:
    (data / "sessions").mkdir(parents=True)
    (data / "sessions" / "feed0000.json").write_text(content)
    with pytest.raises(IntegrityError, match=r"feed0000\.json"):
        open_chat("feed0000")


def test_a_checkpoint_of_the_older_harness_can_be_gone_on_with(open_chat: Open, data: Path) -> None:
    name = f"{_OLD['session_id']}_20260521_123000"
    _old(data, folder="checkpoints", name=name)
    with open_chat(name) as chat:
        assert chat.state.talk.goal == "look at a.py"


def test_sessions_are_listed_searched_renamed_and_deleted(open_chat: Open, data: Path, environ: dict[str, str]) -> None:
    with open_chat() as chat:
        chat.say("fix the Parser")
        first = chat.session_id
    with open_chat() as chat:
        chat.say("other")
    rows = sessions.all_sessions(environ)
    assert [row.goal for row in rows] == ["other", "fix the Parser"]
    assert [(hit.session_id, hit.who) for hit in sessions.search(environ, "parser")] == [(first, "user")]
    sessions.rename(environ, first[:8], "parser work")
    assert sessions.all_sessions(environ)[0].name == "parser work"
    sessions.delete(environ, first)
    assert [row.goal for row in sessions.all_sessions(environ)] == ["other"]
    assert not [path for path in data.rglob("*") if first in path.name]


def test_an_open_session_is_neither_renamed_nor_deleted(open_chat: Open, environ: dict[str, str]) -> None:
    with open_chat() as chat:
        for act in (
            lambda: sessions.rename(environ, chat.session_id, "x"),
            lambda: sessions.delete(environ, chat.session_id),
        ):
            with pytest.raises(LockedError):
                act()
        chat.say("still here")
        assert chat.state.talk.outcome == "completed"


def test_a_fork_goes_on_alone(open_chat: Open, environ: dict[str, str]) -> None:
    with open_chat() as chat:
        chat.say("one")
        first = chat.session_id
        made = run_slash(chat, "/fork second way")
    with open_chat(made.session) as forked:
        forked.say("two")
        assert [entry.text for entry in forked.state.talk.entries if entry.kind == "user"] == ["one", "two"]
        assert (forked.workshop.setting("name"), forked.state.identity.parent) == ("second way", first)
    assert sessions.session_state(environ, first).talk.turn == 1


def test_an_export_holds_what_was_said_and_no_markup_of_it(open_chat: Open) -> None:
    with open_chat() as chat:
        chat.say("say <script>alert(1)</script> and ```fences```")
        state = chat.state
    page = exported(state, "html")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "Answer 0 & <b>." in exported(state, "md")
    assert json.loads(exported(state, "json"))["report"]["turn_count"] == 1
    with pytest.raises(UsageError):
        exported(state, "docx")


def test_commands_about_the_session_answer(open_chat: Open, tmp_path: Path) -> None:
    with open_chat() as chat:
        chat.say("hello")
        assert run_slash(chat, "/name better name").data == {"name": "better name"}
        assert "better name" in run_slash(chat, "/sessions").text
        assert "**user** hello" in run_slash(chat, "/history 5").text
        assert run_slash(chat, "/retry").prompt == "hello"
        assert run_slash(chat, "/new").action == "open"
        assert run_slash(chat, "/save").ok
        report = run_slash(chat, "/report --json").data
        wanted = {"schema_version", "session_id", "name", "mode", "cwd", "created_at", "updated_at", "turn_count"}
        assert {*wanted, "message_count", "model", "usage", "tools", "mcp_servers", "skills", "todos"} <= {*report}
        assert run_slash(chat, "/stats").data["turns"] == 1
        assert run_slash(chat, "/cost").data["rows"][0]["calls"] == 2
        assert run_slash(chat, "/errors").text == "No errors."
        assert run_slash(chat, "/context").data["sections"]["available_actions"] > 100
        assert Path(str(run_slash(chat, "/export html").data["file"])).read_text().startswith("<!doctype html>")
        assert run_slash(chat, "/compact").ok
        assert run_slash(chat, "/clear").ok
        assert chat.state.talk.entries == ()


@pytest.mark.parametrize(
    "line",
    ["/history -1", "/history many", "/resume", "/resume nope", "/restore", "/restore x y", "/sessions --page 0",
     "/sessions --page 99", "/checkpoints --pages 1", "/export docx", "/report xml", "/errors x", "/undo", "/redo", "/retry"],
)  # fmt: skip
def test_what_is_wrong_with_a_command_is_said(open_chat: Open, line: str) -> None:
    with open_chat() as chat:
        reply = run_slash(chat, line)
        assert (reply.ok, bool(reply.text)) == (False, True)


def test_a_checkpoint_of_the_older_harness_is_restored_into_a_session(open_chat: Open, data: Path) -> None:
    name = f"{_OLD['session_id']}_20260521_123000"
    _old(data, folder="checkpoints", name=name)
    with open_chat() as chat:
        chat.say("something else")
        assert run_slash(chat, f"/restore {name}").ok
        assert chat.state.talk.goal == "look at a.py"
        assert not run_slash(chat, "/restore ../sessions/x").ok
        chat.say("go on")
        assert chat.state.talk.outcome == "completed"


def test_a_session_of_the_older_harness_is_shown_exported_and_searched_without_going_on(
    data: Path, environ: dict[str, str]
) -> None:
    key = "".join(("sk", "-or-v1-", "0123456789abcdef" * 4))
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "cached_tokens": 7}
    messages = [*_OLD["messages"], {"role": "assistant", "content": f"Found the Parser, key {key}"}]  # type: ignore[misc]
    name = _old(data, {**_OLD, "messages": messages, "total_usage": usage, "active_tools": ["grep"]})
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    state = sessions.session_state(environ, name[:8])
    report = report_value(state)
    assert (report["turn_count"], report["model"], report["tools"]) == (2, "openrouter/free", ["grep"])
    assert report["usage"] == usage and report["created_at"].startswith("2026-05-21T12:00")
    for form in ("md", "html", "json"):
        text = exported(state, form)
        assert "look at a.py" in text and "Found the Parser" in text and key not in text
    assert [(hit.session_id, hit.who, hit.turn) for hit in sessions.search(environ, "parser")] == [
        (name, "assistant", 2)
    ]
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before


def test_a_session_in_which_nothing_was_said_is_not_kept(open_chat: Open, data: Path, environ: dict[str, str]) -> None:
    with open_chat() as chat:
        run_slash(chat, "/plan")
    assert [path for path in data.rglob("*") if chat.session_id in path.name] == []
    for line in ("/save", "/name parser", "/checkpoint"):
        with open_chat() as chat:
            run_slash(chat, line)
        assert chat.session_id in [row.session_id for row in sessions.all_sessions(environ)]


def test_a_damaged_newest_session_is_named_and_no_older_one_goes_on_in_its_place(
    open_chat: Open, data: Path, environ: dict[str, str]
) -> None:
    with open_chat() as chat:
        chat.say("one")
        cwd = chat.workshop.root
    with open_chat() as chat:
        chat.say("two")
        newest = chat.session_id
    log = data / "runs" / newest / "events.jsonl"
    lines = log.read_bytes().split(b"\n")
    log.write_bytes(b"\n".join([*lines[:-4], lines[-4][:20], *lines[-3:]]))
    with pytest.raises(IntegrityError) as raised:
        sessions.last_session(environ, cwd=cwd)
    assert newest in str(raised.value) and f"sessions fork {newest}" in raised.value.hint
