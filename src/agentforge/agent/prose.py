"""A reply without tool calls that holds an artifact all the same: weak models answer with a JSON block."""

from __future__ import annotations

import json
import re

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


def artifact_in(text: str) -> dict[str, object] | None:
    """Read the one JSON object that a reply consists of, bare or in a fence; None when there is none or more than one."""
    blocks = _FENCED.findall(text) or [text]
    if len(blocks) != 1:
        return None
    try:
        value = json.loads(blocks[0].strip())
    except ValueError:
        return None
    if not isinstance(value, dict) or not value:
        return None
    inner = value.get("artifact")
    return inner if isinstance(inner, dict) and len(value) == 1 else value
