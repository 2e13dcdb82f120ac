"""Proves models/tape.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from agentforge_loopback import LoopbackProvider, Raw, Refuse, Say

from agentforge import errors
from agentforge.messages import ModelReply, ModelRequest
from agentforge.models.api.hosted import HostedModel
from agentforge.models.api.model import ModelSpec
from agentforge.models.dialects.anthropic_messages import ANTHROPIC_MESSAGES
from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from agentforge.models.transport.connection import Connection, HttpConnection
from agentforge.models.transport.tape import TapePlayer, TapeRecorder

DIALECTS = {"openai": OPENAI_CHAT, "anthropic": ANTHROPIC_MESSAGES}


def ask(dialect: str, connection: Connection, request: ModelRequest, *, host: str) -> tuple[ModelReply, list[float]]:
    """One reply over a connection, and the waits before it."""
    slept: list[float] = []
    spec = ModelSpec(provider="custom", name="m", base_url=host, api_key="sk-secret")
    model = HostedModel(spec, DIALECTS[dialect], connection=connection, sleep=slept.append)
    reply = model.complete(request)
    model.close()
    return reply, slept


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_what_was_recorded_plays_again_byte_for_byte_with_its_failures(
    dialect: str, tmp_path: Path, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    path = tmp_path / "tape.jsonl"
    loopback.plan(
        Refuse(status=429, headers={"Retry-After": "7"}),
        Raw(chunks=(b"data: \xff\xfe\n\n",)),
        Say(text="fine ü", calls=(("f", "{}"),)),
    )
    live, _ = ask(dialect, TapeRecorder(HttpConnection(), path), request_for(), host=loopback.url)
    played, slept = ask(dialect, TapePlayer(path), request_for(), host="http://elsewhere.invalid")
    assert (played.text, played.tool_calls, played.usage, played.requests) == (
        live.text,
        live.tool_calls,
        live.usage,
        3,
    )
    assert slept[0] == 7.0
    assert "sk-secret" not in path.read_text()


def test_an_unknown_request_and_one_too_many_fail_loudly(
    tmp_path: Path, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    path = tmp_path / "tape.jsonl"
    loopback.plan(Say(text="x"))
    ask("openai", TapeRecorder(HttpConnection(), path), request_for(), host=loopback.url)
    player = TapePlayer(path)
    with pytest.raises(errors.ModelRequestRejected, match="has no"):
        ask("openai", player, request_for(user="other"), host="http://h")
    ask("openai", player, request_for(), host="http://h")
    with pytest.raises(errors.ModelRequestRejected, match="has no"):
        ask("openai", player, request_for(), host="http://h")


def test_a_tape_that_cannot_be_read_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("{}\n")
    for name in ("bad", "none"):
        with pytest.raises(errors.ConfigError, match="cannot be read"):
            TapePlayer(tmp_path / name)
