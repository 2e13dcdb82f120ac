"""What the strictest of the known providers would refuse in a request: roles, pairs, empty contents, ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def problems(body: dict[str, Any], dialect: str) -> list[str]:
    """Say what is wrong with a request's body; [] when a provider takes it."""
    return list(_anthropic(body) if dialect == "anthropic" else _openai(body))


def _openai(body: dict[str, Any]) -> Iterator[str]:
    messages = body["messages"]
    if not messages or messages[0]["role"] != "system":
        yield "the first message is not the system's"
    if len(messages) < 2 or messages[1]["role"] != "user":
        yield "the first message behind the system's is not the user's"
    waiting: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if role == "system" and number:
            yield f"{number}: a system message in the middle"
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                yield f"{number}: an answer to no call, or a second one: {message.get('tool_call_id')}"
            else:
                waiting.remove(message["tool_call_id"])
            if not content:
                yield f"{number}: an empty result"
            continue
        if waiting:
            yield f"{number}: calls without an answer: {waiting}"
            waiting = []
        calls = message.get("tool_calls") or []
        if role != "assistant" and calls:
            yield f"{number}: calls of {role}"
        if not calls and not (content or "").strip():
            yield f"{number}: an empty message of {role}"
        for call in calls:
            yield from _call_problems(number, call["id"], call["function"]["arguments"], seen)
            waiting.append(call["id"])
    if waiting:
        yield f"at the end: calls without an answer: {waiting}"
    if messages[-1]["role"] == "assistant":
        yield "the last message is the assistant's"


def _anthropic(body: dict[str, Any]) -> Iterator[str]:
    messages = body["messages"]
    if not messages or messages[0]["role"] != "user":
        yield "the first message is not the user's"
    waiting: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if number and messages[number - 1]["role"] == role:
            yield f"{number}: two messages of {role} in a row"
        if not content:
            yield f"{number}: an empty message"
        kinds = [block["type"] for block in content]
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if sorted(results) != sorted(waiting):
            yield f"{number}: calls {waiting}, answers {results}"
        if kinds[: len(results)] != ["tool_result"] * len(results):
            yield f"{number}: answers behind other blocks"
        if any(block["type"] == "text" and not block["text"].strip() for block in content):
            yield f"{number}: an empty block"
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        for block in content:
            if block["type"] == "tool_use":
                yield from _call_problems(number, block["id"], json.dumps(block["input"]), seen)
    if waiting or messages[-1]["role"] != "user":
        yield "it does not end with the user's words or with answers"
    marked = json.dumps(body).count('"cache_control"')
    if marked > 4:
        yield f"{marked} cache markers"


def _call_problems(number: int, call_id: str, arguments: str, seen: set[str]) -> Iterator[str]:
    if call_id in seen or not _ID.fullmatch(call_id):
        yield f"{number}: the id {call_id!r} stands twice, or is none"
    seen.add(call_id)
    try:
        good = isinstance(json.loads(arguments), dict)
    except ValueError:
        good = False
    if not good:
        yield f"{number}: arguments that are no object: {arguments[:40]}"
