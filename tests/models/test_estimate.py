"""Proves models/estimate.py."""

from __future__ import annotations

from agentforge.messages import Message, ModelRequest, Text, ToolCall, ToolSchema, Usage
from agentforge.models.api.prices import estimate_usage


def test_everything_that_is_sent_and_received_is_counted() -> None:
    call = ToolCall(call_id="never counted", name="f", arguments="one")
    request = ModelRequest(
        messages=(
            Message(role="user", parts=(Text(text="one "), Text(text="two"))),
            Message(role="assistant", parts=(), tool_calls=(call,)),
        ),
        tools=(ToolSchema(name="f", description="one", parameters={}),),
    )
    estimate = estimate_usage(request, "one two", "three", (call,))
    assert estimate == Usage(prompt_tokens=2 + 2 + 3, completion_tokens=2 + 1 + 2)
