"""The rules for a stage that a guest does: what it may be allowed, what its words become."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentforge.agent.reply import last_artifact_in
from agentforge.guest.report import GuestReport
from agentforge.messages import Message, ModelRequest, Text, ToolSchema
from agentforge.pipeline.plugins.external_agents import GuestModel, observation_of, prompt_of, refusal_of_call
from agentforge.pipeline.stages.analyze import STAGE as ANALYZE
from agentforge.pipeline.stages.green import STAGE as GREEN
from agentforge.workspace.protection.reconciliation import Settled, Touched


def requested(*fields: str) -> ModelRequest:
    artifact = {"type": "object", "properties": {key: {} for key in fields}}
    submit = ToolSchema(name="submit_artifact", description="", parameters={"properties": {"artifact": artifact}})
    parts = [
        Message(role="system", parts=(Text(text="the frame"),)),
        Message(role="user", parts=(Text(text="the state"),)),
    ]
    return ModelRequest(messages=tuple(parts), tools=(submit,))


REQUEST = requested("files_created", "files_modified")


def asked(kind: str, *paths: str, stage: Any = GREEN, online: bool = False) -> str:
    context: Any = SimpleNamespace(may_write=lambda path: None if path == "a.py" else f"{path} is not in the scope")
    call = {"kind": kind, "locations": [{"path": path} for path in paths]}
    return refusal_of_call(call, repo=Path("/repo"), context=context, stage=stage, online=online)


@pytest.mark.parametrize(
    ("kind", "paths", "words"),
    [
        ("edit", ("/repo/a.py",), ""),
        ("edit", ("a.py",), ""),
        ("edit", ("/repo/a.py", "/repo/tests/test_a.py"), "tests/test_a.py is not in the scope"),
        ("delete", ("/repo/b.py",), "b.py is not in the scope"),
        ("edit", ("/repo/../etc/passwd",), "outside of the workspace"),
        ("move", ("/elsewhere/a.py",), "outside of the workspace"),
        ("read", ("/etc/passwd",), ""),
        ("execute", (), ""),
        ("fetch", (), "the network is closed"),
    ],
)
def test_what_a_guest_asks_is_answered_by_scope_and_network(kind: str, paths: tuple[str, ...], words: str) -> None:
    reason = asked(kind, *paths)
    assert words in reason and bool(reason) == bool(words)


def test_a_stage_that_writes_nothing_allows_no_edit_and_an_open_network_a_fetch() -> None:
    assert "writes no files" in asked("edit", "/repo/a.py", stage=ANALYZE)
    assert asked("fetch", online=True) == ""


def test_diffs_that_a_guest_shows_count_as_places() -> None:
    context: Any = SimpleNamespace(may_write=lambda path: f"{path} is frozen")
    call = {"kind": "edit", "content": [{"type": "diff", "path": "/repo/x.py", "newText": ""}, "noise", {"path": 3}]}
    assert refusal_of_call(call, repo=Path("/repo"), context=context, stage=GREEN, online=False) == "x.py is frozen"


def test_the_first_reply_hands_over_and_the_second_hands_in() -> None:
    model = GuestModel(name="acp:x", worked=None)
    (call,) = model.complete(REQUEST).tool_calls
    prompt = json.loads(call.arguments)["prompt"]
    assert call.name == "agent" and prompt == prompt_of(REQUEST)
    assert prompt.index("the frame") < prompt.index("the state") < prompt.index('{"type":"object"')

    worked = {
        "answer": "Did it.\nAll of it.",
        "changed": [{"path": "a.py", "what": "new"}, {"path": "b.py", "what": "changed"}],
        "usage": {"inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 3, "thoughtTokens": "many"},
        "cost_usd": 0.5,
    }
    model = replace(model, worked=worked)
    reply = model.complete(REQUEST)
    (call,) = reply.tool_calls
    assert call.name == "submit_artifact"
    assert json.loads(call.arguments)["artifact"] == {
        "files_created": [{"path": "a.py", "purpose": "Did it."}],
        "files_modified": [{"path": "b.py", "changes_summary": "Did it."}],
    }
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cached_tokens) == (13, 5, 3)
    assert reply.usage_reported and model.price(reply) == 0.5
    (call,) = model.complete(requested("changes")).tool_calls
    rows = [{"path": "a.py", "summary": "Did it."}, {"path": "b.py", "summary": "Did it."}]
    assert json.loads(call.arguments)["artifact"] == {"changes": rows}


def test_an_artifact_in_the_last_message_wins_and_none_is_an_empty_one() -> None:
    said = 'Look:\n```json\n{"title": "old"}\n```\nNo:\n```json\n{"artifact": {"title": "new"}}\n```\n'
    for answer, wanted in (
        (said, {"title": "new"}),
        ("nothing", {}),
        ('```json\n{"tool": "config"}\n```', {}),
        ("```json\n[1]\n```", {}),
    ):
        model = GuestModel(name="acp:x", worked={"answer": answer})
        (call,) = model.complete(requested("title")).tool_calls
        assert json.loads(call.arguments)["artifact"] == wanted
    assert last_artifact_in('{"a": 1}') == {"a": 1}
    assert model.price(model.complete(REQUEST)) is None


def test_what_was_refused_is_told_first() -> None:
    report = GuestReport()
    report.ended = "end_turn"
    settled = Settled(
        kept=(Touched(path="a.py", what="changed"),),
        refused=(Touched(path="tests/t\udcff.py", what="new", refusal="tests are frozen"),),
    )
    seen = observation_of(report, settled)
    assert "1 file refused and put back" in seen.summary and seen.changed == ("a.py",)
    value = json.loads(seen.text)
    assert value["refused"] == [{"path": "tests/t\\xff.py", "what": "new", "reason": "tests are frozen"}]
    assert list(value).index("refused") < list(value).index("updates")
