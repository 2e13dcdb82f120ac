"""A reply without tool calls that holds an artifact all the same: weak models answer with a JSON block."""

from __future__ import annotations

import json

_FENCE = "```"


def artifact_in(text: str) -> dict[str, object] | None:
    """Read the one JSON object that a reply consists of, bare or in a fence; None when there is none or more than one."""
    blocks = _fenced(text) or [text]
    if len(blocks) != 1:
        return None
    try:
        value = json.loads(blocks[0])
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value:
        return None
    inner = value.get("artifact")
    return inner if isinstance(inner, dict) and len(value) == 1 else value


def last_artifact_in(text: str) -> dict[str, object] | None:
    """Read the last JSON object that stands in a fence of a longer text, or the text itself; None when there is none."""
    for block in reversed(_fenced(text)):
        found = artifact_in(block)
        if found is not None:
            return found
    return artifact_in(text)


def _fenced(text: str) -> list[str]:
    """The contents of the fenced blocks that say they are JSON, or say nothing; an open end closes at the end."""
    blocks: list[str] = []
    inside: list[str] | None = None
    language = ""
    for line in [*text.split("\n"), _FENCE]:
        if inside is None and line.strip().startswith(_FENCE):
            inside, language = [], line.strip().removeprefix(_FENCE).strip().lower()
        elif inside is not None and line.strip() == _FENCE:
            blocks += ["\n".join(inside)] if language in ("", "json") and any(inside) else []
            inside = None
        elif inside is not None:
            inside.append(line)
    return blocks
