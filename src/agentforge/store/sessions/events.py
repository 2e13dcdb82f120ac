"""The log of a session as the event lines that agentforge-harness 0.1 wrote: one JSON object a line. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentforge.events import kinds

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState
    from agentforge.store.log.records import Record

SCHEMA_VERSION = 1


def event_line(record: Record, state: RunState, *, sequence: int) -> bytes:
    """The line that tells a record; b"" for a record that the older format has no word for.

    Args:
        state: after the record.
        sequence: number of the line, from 1.
    """
    told = _told(record.event, state)
    if told is None:
        return b""
    kind, payload = told
    value = {
        "schema_version": SCHEMA_VERSION,
        "session_id": state.run_id,
        "turn": state.talk.turn,
        "sequence": sequence,
        "type": kind,
        "timestamp": record.at,
        "payload": payload,
    }
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _told(event: kinds.Event, state: RunState) -> tuple[str, dict[str, object]] | None:
    if isinstance(event, kinds.UserSaid | kinds.UserSteered):
        return "agent_start", {"message": event.text}
    if isinstance(event, kinds.ModelReplied):
        return ("text_complete", {"content": event.text}) if event.text.strip() else None
    if isinstance(event, kinds.ToolStarted):
        return "tool_call_start", {"call_id": event.call_id, "name": event.name, "arguments": event.arguments}
    if isinstance(event, kinds.ToolFinished):
        return "tool_call_complete", _completed(event)
    if isinstance(event, kinds.ModelFailed):
        return "agent_error", {"error": event.message, "details": {"slug": event.slug}}
    if isinstance(event, kinds.TurnFinished):
        if event.outcome in ("failed", "stuck", "limit"):
            return "agent_error", {"error": event.reason or event.outcome, "details": {"outcome": event.outcome}}
        return "agent_end", {"response": _last_words(state), "usage": usage_value(state)}
    return None


def usage_value(state: RunState) -> dict[str, int]:
    """What the session used so far."""
    totals = state.totals
    return {
        "prompt_tokens": totals.prompt_tokens,
        "completion_tokens": totals.completion_tokens,
        "total_tokens": totals.prompt_tokens + totals.completion_tokens,
        "cached_tokens": totals.cached_tokens,
    }


def _completed(event: kinds.ToolFinished) -> dict[str, object]:
    good = event.status == "success"
    return {
        "call_id": event.call_id,
        "name": event.name,
        "success": good,
        "output": event.text,
        "error": None if good else event.summary,
        "metadata": {
            "status": event.status,
            "error_type": event.error_type,
            "paths": list(event.paths),
            "redaction": dict(event.redaction),
            "hygiene": dict(event.hygiene),
            "trust": event.trust,
        },
        "diff": None,
        "truncated": event.output is not None,
        "exit_code": None,
    }


def _last_words(state: RunState) -> str:
    for entry in reversed(state.talk.entries):
        if entry.kind == "assistant" and entry.turn == state.talk.turn and entry.text.strip():
            return entry.text
    return ""
