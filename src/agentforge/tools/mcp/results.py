"""From what a server answers to an observation: text as text, everything else named with its size."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agentforge.tools.base import Observation, failed

_MOST_CHARACTERS = 2_000_000


def observed(tool: str, result: Any) -> Observation:
    """Show the result of a call."""
    text = _cut("\n".join(_blocks(result.content)))
    if not text.strip() and result.structured_content is not None:
        text = _cut(json.dumps(result.structured_content, ensure_ascii=False, default=str))
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no output")[:120]
    if result.is_error:
        return failed(f"{tool} failed: {first}", error_type="server-error", text=text)
    return Observation(status="success", summary=f"{tool}: {first}", text=text)


def filled_in(result: Any) -> str:
    """The messages of a prompt as one text, with the resources that stand in them."""
    return _cut("\n\n".join(_blocks(one.content for one in result.messages)))


def read_out(uri: str, result: Any) -> Observation:
    """Show a resource."""
    text = _cut("\n".join(_contents(one) for one in result.contents))
    return Observation(status="success", summary=f"{uri}: {len(text):,} characters", text=text)


def _blocks(blocks: Iterable[Any]) -> Iterable[str]:
    for block in blocks:
        kind = getattr(block, "type", "")
        if kind == "text":
            yield str(block.text)
        elif kind == "resource":
            yield _contents(block.resource)
        elif kind == "resource_link":
            yield f"[resource {block.uri}: {block.name}]"
        else:
            yield f"[{kind or 'something'} {getattr(block, 'mime_type', '')}, {len(getattr(block, 'data', ''))} bytes, not shown]"


def _contents(contents: Any) -> str:
    if hasattr(contents, "text"):
        return str(contents.text)
    return f"[{contents.uri}: {contents.mime_type or 'binary'}, {len(contents.blob)} bytes, not shown]"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}\n... {len(text):,} characters in all"
