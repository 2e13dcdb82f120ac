"""Usage of a reply whose provider reported none: our own count over everything sent and received. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentforge.messages import Usage
from agentforge.tokens import count_tokens

if TYPE_CHECKING:
    from agentforge.messages import ModelRequest, ToolCall


def estimate_usage(request: ModelRequest, text: str, thinking: str, tool_calls: tuple[ToolCall, ...]) -> Usage:
    """Count the tokens of a request and of its reply by rule."""
    prompt = sum(count_tokens(message.text) + _calls_tokens(message.tool_calls) for message in request.messages)
    prompt += sum(
        count_tokens(tool.name) + count_tokens(tool.description) + count_tokens(json.dumps(tool.parameters))
        for tool in request.tools
    )
    completion = count_tokens(text) + count_tokens(thinking) + _calls_tokens(tool_calls)
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _calls_tokens(calls: tuple[ToolCall, ...]) -> int:
    return sum(count_tokens(call.name) + count_tokens(call.arguments) for call in calls)
