"""A session as one JSON value (schema_version 1), in the shape that agentforge-harness 0.1 wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentforge.context.window import entry_tokens
from agentforge.store.sessions.events import usage_value

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState
    from agentforge.events.state.talk import Entry

SCHEMA_VERSION = 1


def snapshot_value(state: RunState, *, updated_at: str, sequence: int = 0) -> dict[str, object]:
    """The snapshot of a session.

    Args:
        sequence: lines of the session's event file so far.
    """
    talk = state.talk
    settings = talk.settings
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": state.run_id,
        "name": settings.get("name"),
        "created_at": state.started_at,
        "updated_at": updated_at,
        "turn_count": talk.turn,
        "cwd": state.repo,
        "config": state.digests.get("config") or {"model": state.model},
        "messages": [_message(entry) for entry in talk.entries],
        "latest_usage": latest_usage(state),
        "total_usage": usage_value(state),
        "active_tools": settings.get("tools") or [],
        "mcp_servers": settings.get("mcp_servers") or [],
        "active_skills": settings.get("skills") or [],
        "todos": {
            name: item.get("text", "") if isinstance(item, Mapping) else item for name, item in talk.todos.items()
        },
        "event_sequence": sequence,
        "mode": settings.get("work_mode") or "build",
        "goal": talk.goal,
        "open": talk.open,
    }


def latest_usage(state: RunState) -> dict[str, int]:
    """What the last reply used."""
    latest = state.talk.latest_usage
    prompt, completion = latest.get("prompt_tokens", 0), latest.get("completion_tokens", 0)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "cached_tokens": latest.get("cached_tokens", 0),
    }


def snapshot_bytes(state: RunState, *, updated_at: str, sequence: int = 0) -> bytes:
    """The snapshot as a file holds it."""
    return (
        json.dumps(
            snapshot_value(state, updated_at=updated_at, sequence=sequence), ensure_ascii=False, indent=2
        ).encode("utf-8", "replace")
        + b"\n"
    )


def _message(entry: Entry) -> dict[str, object]:
    calls = [
        {
            "id": call["call_id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in entry.calls
    ]
    return {
        "role": "user" if entry.kind in ("summary", "note") else entry.kind,
        "content": entry.text if entry.text.strip() else entry.summary,
        "tool_call_id": entry.call_id or None,
        "tool_calls": calls,
        "token_count": entry_tokens(entry),
        "pruned_at": None,
    }
