"""Requests and models for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from agentforge.messages import Message, ModelRequest, Text, ToolCall, ToolSchema
from agentforge.models.api.hosted import HostedModel
from agentforge.models.api.model import ModelSpec
from agentforge.models.dialects.anthropic_messages import ANTHROPIC_MESSAGES
from agentforge.models.dialects.openai_chat import OPENAI_CHAT

if TYPE_CHECKING:
    from tests.support.loopback.provider import LoopbackProvider

DIALECTS = {"openai": OPENAI_CHAT, "anthropic": ANTHROPIC_MESSAGES}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


@pytest.fixture
def request_for() -> Callable[..., ModelRequest]:
    """Builds a request of two messages and one tool: `request_for("GREEN", 2)`."""

    def build(stage: str = "GREEN", step: int = 1, *, user: str = "Do it.") -> ModelRequest:
        return ModelRequest(
            messages=(
                Message(role="system", parts=(Text(text="You write code.", stable=True),)),
                Message(role="user", parts=(Text(text="The task. ", stable=True), Text(text=user))),
            ),
            tools=(ToolSchema(name="read_file", description="Read a file.", parameters=SCHEMA),),
            max_output_tokens=512,
            labels={"stage": stage, "stage_step": step},
        )

    return build


@pytest.fixture
def history() -> tuple[Message, ...]:
    """A conversation with two tool calls in one reply (one with malformed arguments) and their results."""
    calls = (
        ToolCall(call_id="c1", name="read_file", arguments='{"path": "a.py"}'),
        ToolCall(call_id="c2", name="read_file", arguments='{"path": '),
    )
    return (
        Message(role="system", parts=(Text(text="S"),)),
        Message(role="user", parts=(Text(text="U1"),)),
        Message(role="assistant", parts=(Text(text="I look."),), tool_calls=calls),
        Message(role="tool", parts=(Text(text="one"),), tool_call_id="c1"),
        Message(role="tool", parts=(Text(text="two"),), tool_call_id="c2"),
        Message(role="user", parts=(Text(text="U2"),)),
    )


@pytest.fixture
def slept() -> list[float]:
    """The seconds that `connect`ed models wished to wait between their tries."""
    return []


@pytest.fixture
def connect(loopback: LoopbackProvider, slept: list[float]) -> Iterator[Callable[..., HostedModel]]:
    """Opens a model of a dialect on the loopback provider; it does not sleep, it notes."""
    opened: list[HostedModel] = []

    def build(dialect: str = "openai", **settings: object) -> HostedModel:
        values: dict[str, object] = {
            "provider": "anthropic" if dialect == "anthropic" else "custom",
            "name": "m",
            "base_url": loopback.url,
            "api_key": "sk-secret",
            **settings,
        }
        model = HostedModel(ModelSpec(**values), DIALECTS[dialect], sleep=slept.append)  # type: ignore[arg-type]
        opened.append(model)
        return model

    yield build
    for model in opened:
        model.close()
