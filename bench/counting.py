"""What a model reads of a request, and how many tokens that is: one rule for every program that is measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_SKIPPED = frozenset({"id", "call_id", "tool_call_id", "type", "cache_control"})
"""Keys whose values bind the parts of a request together; no model is shown them."""


def read(body: Mapping[str, Any]) -> str:
    """The text of a request in the order in which providers read it: tools as JSON, instructions, messages unpacked."""
    tools = json.dumps(body.get("tools") or [], separators=(",", ":"))
    return "\n".join([tools, *_texts(body.get("instructions")), *_texts(body.get("messages") or body.get("input"))])


def count(text: str) -> int:
    """Tokens by the vocabulary o200k_base where it is installed (the development set-up does), else by our own rule."""
    try:
        import toktok
    except ImportError:
        from agentforge.tokens import count_tokens

        return count_tokens(text)
    return int(toktok.batch_count([text], "o200k_base", threads=1)[0])


def rule() -> str:
    """How `count` counts here."""
    try:
        import toktok  # noqa: F401
    except ImportError:
        return "AgentForge's rule (docs/adr/0003)"
    return "o200k_base"


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _SKIPPED:
                yield from _texts(item)
