"""A session as one JSON value (schema_version 1), in the shape that agentforge-harness 0.1 wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.events.state import RunState
    from agentforge.events.talk import Entry

SCHEMA_VERSION = 1


def snapshot_value(state: RunState, *, updated_at: str) -> dict[str, object]:
    """The snapshot of a session."""
    talk, totals = state.talk, state.totals
    usage = {
        "prompt_tokens": totals.prompt_tokens,
        "completion_tokens": totals.completion_tokens,
        "total_tokens": totals.prompt_tokens + totals.completion_tokens,
        "cached_tokens": totals.cached_tokens,
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": state.run_id,
        "name": talk.settings.get("name"),
        "created_at": state.started_at,
        "updated_at": updated_at,
        "turn_count": talk.turn,
        "cwd": state.repo,
        "config": {"model": state.model},
        "messages": [_message(entry) for entry in talk.entries],
        "latest_usage": usage,
        "total_usage": usage,
        "active_tools": [],
        "mcp_servers": [],
        "active_skills": talk.settings.get("skills") or [],
        "todos": dict(talk.todos),
        "event_sequence": totals.steps,
        "mode": talk.settings.get("work_mode") or "build",
    }


def snapshot_bytes(state: RunState, *, updated_at: str) -> bytes:
    """The snapshot as a file holds it."""
    return json.dumps(snapshot_value(state, updated_at=updated_at), ensure_ascii=False, indent=2).encode() + b"\n"


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
        "role": "user" if entry.kind == "summary" else entry.kind,
        "content": entry.text,
        "tool_call_id": entry.call_id or None,
        "tool_calls": calls,
        "token_count": None,
        "pruned_at": None,
    }
