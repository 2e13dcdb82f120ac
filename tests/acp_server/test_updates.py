"""Events and histories as an editor is shown them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("acp")
from acp.schema import (
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from agentforge.acp_server.agent import code_of, server_settings
from agentforge.acp_server.updates import Teller, history, kind_of, plan_of
from agentforge.acp_server.words import MODES, commands_now, said_of
from agentforge.app.slash import commands
from agentforge.errors import IntegrityError, ModelNotConfigured, UsageError
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Entry, Talk
from agentforge.session.modes import BUILD_TOOLS

STATE = RunState()


def replied(text: str = "", *calls: str, thinking: str = "") -> kinds.ModelReplied:
    rows = tuple({"call_id": "same", "name": name, "arguments": '{"path": "a.py", "offset": 7}'} for name in calls)
    return kinds.ModelReplied(step=3, text=text, tool_calls=rows, finish="stop", usage={}, model="m", thinking=thinking)


def test_what_was_streamed_is_not_said_again(tmp_path: Path) -> None:
    teller = Teller(tmp_path, lambda _digest: b"")
    assert teller.delta("Hel\x1b[2Jlo").content.text == "Hello"
    assert [update.session_update for update in teller.told(replied("Hello"), STATE)] == []
    shown = list(teller.told(replied("Hello", thinking="hm"), STATE))
    assert [update.session_update for update in shown] == ["agent_thought_chunk", "agent_message_chunk"]


def test_calls_have_ids_of_their_own_kinds_and_places(tmp_path: Path) -> None:
    teller = Teller(tmp_path, lambda _digest: b"", prefix="t-")
    first, second = teller.told(replied("", "read_file", "unheard_of"), STATE)
    assert (first.tool_call_id, second.tool_call_id) == ("t-3.0", "t-3.1")
    assert (first.kind, second.kind, first.status) == ("read", "other", "pending")
    assert (first.locations[0].path, first.locations[0].line) == (str(tmp_path / "a.py"), 7)
    assert {kind_of(name) for name in BUILD_TOOLS} <= {"read", "search", "edit", "execute", "fetch", "think"}


def test_a_written_file_is_a_diff_of_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("new\n")
    teller = Teller(tmp_path, {"d1": b"old\n"}.__getitem__)
    call = {"step": 3, "index": 0, "call_id": "c", "name": "edit"}
    touches = {"a.py": "d1", "gone.py": "d1", "secret.py": "withheld:d2"}
    list(teller.told(kinds.ToolStarted(**call, arguments={}, effect="write", touches=touches), STATE))
    changed = {"a.py": "d9", "gone.py": "", "secret.py": "d8"}
    (update,) = teller.told(kinds.ToolFinished(**call, status="success", summary="s", changed=changed), STATE)
    assert [(item.path, item.old_text, item.new_text) for item in update.content] == [
        (str(tmp_path / "a.py"), "old\n", "new\n"),
        (str(tmp_path / "gone.py"), "old\n", ""),
    ]
    (update,) = teller.told(kinds.ToolFinished(**call, status="denied", summary="not allowed"), STATE)
    assert update.status == "failed" and update.content[0].content.text == "not allowed"


def test_a_history_is_shown_from_its_beginning(tmp_path: Path) -> None:
    call = {"call_id": "c1", "name": "grep", "arguments": "no json"}
    entries = (
        Entry(kind="summary", turn=1, text="before"),
        Entry(kind="user", turn=2, text="look"),
        Entry(kind="assistant", turn=2, text="I do", calls=(call,)),
        Entry(
            kind="tool", turn=2, call_id="c1", name="grep", status="error", text="<untrusted x>\nhit\n</untrusted x>"
        ),
        Entry(kind="tool", turn=2, call_id="lost", name="grep", status="error"),
    )
    talk = Talk(entries=entries, todos={"1": {"text": "a", "done": True}, "2": {"text": "b"}, "3": {"text": "c"}})
    shown = list(history(talk, tmp_path))
    assert [update.session_update for update in shown] == [
        *("agent_thought_chunk", "user_message_chunk", "agent_message_chunk", "tool_call", "tool_call_update", "plan")
    ]
    assert shown[3].raw_input == "no json" and shown[4].tool_call_id == shown[3].tool_call_id
    assert shown[4].status == "failed" and shown[4].content[0].content.text == "hit"
    assert [entry.status for entry in plan_of(talk.todos).entries] == ["completed", "in_progress", "pending"]


def test_the_blocks_of_a_prompt_become_text_and_notes(tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_text("inside")
    text = TextContentBlock(type="text", text="read")
    link = ResourceContentBlock(type="resource_link", name="a b.py", uri=(tmp_path / "a b.py").as_uri())
    far = ResourceContentBlock(type="resource_link", name="far", uri="https://example.org/x")
    contents = TextResourceContents(uri="file:///other/n.txt", text="embedded")
    note = EmbeddedResourceContentBlock(type="resource", resource=contents)
    picture = ImageContentBlock(type="image", data="", mime_type="image/png")
    said = said_of([text, link, far, note, picture], tmp_path)
    assert said.text == 'read @"a b.py" far (https://example.org/x)'
    assert any("embedded" in one for one in said.notes) and any("inside" in one for one in said.notes)
    assert any("image" in one for one in said.notes)


def test_commands_modes_and_errors_are_told_in_the_words_of_the_protocol() -> None:
    offered = {command.name for command in commands_now().available_commands}
    assert offered == {command.name for command in commands().values()} - {"exit", "quit", "theme", "keys"}
    assert list(MODES) == ["plan", "build", "swarm", "task"]
    assert [code_of(error) for error in (ModelNotConfigured("x"), UsageError("x"), IntegrityError("x"))] == [
        *(-32000, -32602, -32603)
    ]


def test_servers_that_an_editor_brings_become_settings() -> None:
    program = SimpleNamespace(name="a.b", command="srv", args=["-x"], env=[SimpleNamespace(name="K", value="v")])
    header = SimpleNamespace(name="Authorization", value="Bearer t")
    remote = SimpleNamespace(name="far", url="https://example.org/mcp", headers=[header])
    assert server_settings([program, remote]) == {
        'mcp_servers."a.b".command': "srv",
        'mcp_servers."a.b".args': ["-x"],
        'mcp_servers."a.b".env': {"K": "v"},
        'mcp_servers."far".url': "https://example.org/mcp",
        'mcp_servers."far".headers': {"Authorization": "Bearer t"},
    }
