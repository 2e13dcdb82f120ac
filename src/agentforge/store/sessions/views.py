"""The views of a session: files of the data directory that other programs read; never read back as truth.

A session as one JSON value (schema_version 1), in the shape that agentforge-harness 0.1 wrote.

The log of a session as the event lines that agentforge-harness 0.1 wrote: one JSON object a line. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from agentforge.context.window import entry_tokens
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import CheckpointMade, TurnFinished
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Entry
from agentforge.store.blobs import Blobs
from agentforge.store.log.files import make_folder, replace_file, storage_error
from agentforge.store.log.reader import read
from agentforge.store.log.records import Record, utc_now
from agentforge.store.log.snapshot import Snapshot


class SessionViews:
    """The files of one session, brought up to date when a turn ends and when the session is closed.

    sessions/ID.json is written whole; events/ID.jsonl grows; checkpoints/CHECKPOINT.json is written once.
    """

    def __init__(self, folder: Path, blobs: Blobs) -> None:
        self._folder = folder
        self._blobs = blobs
        self._state: RunState | None = None
        self._due = False
        self._at = ""
        self._lines: list[bytes] = []
        self._sequence = 0
        self._anew = True
        self._checkpoints: dict[str, bytes] = {}

    @classmethod
    def resumed(cls, folder: Path, blobs: Blobs, *, after: Snapshot | None = None) -> Self:
        """Views that are written anew: the log is read from its beginning, whatever the files hold."""
        views = cls(folder, blobs)
        views._state = after.state if after is not None else None
        return views

    @classmethod
    def replayed(cls, folder: Path, blobs: Blobs) -> Self:
        """Views written anew from the log.

        Raises:
            IntegrityError: the log was altered or damaged.
        """
        views, state = cls(folder, blobs), RunState()
        for record in read(folder):
            state = evolve(state, record.event, at=record.at)
            views.observe(record, state, end=0)
        views.flush()
        return views

    def observe(self, record: Record, state: RunState, *, end: int) -> None:
        """Take the next record."""
        del end
        self._state, self._at = state, record.at
        line = event_line(record, state, sequence=self._sequence + 1)
        if line:
            self._lines.append(line)
            self._sequence += 1
        if isinstance(record.event, CheckpointMade):
            name = record.event.checkpoint_id
            if not (self._folder.parent.parent / "checkpoints" / f"{name}.json").exists():
                self._checkpoints[name] = self._snapshot(state)
        self._due = self._due or isinstance(record.event, (TurnFinished, CheckpointMade))

    def settled(self) -> bool:
        """Nothing is read back, so nothing can be out of step."""
        return True

    def keep_up(self) -> None:
        """Write when a turn has ended."""
        if self._due:
            self.flush()

    def seal(self) -> None:
        """Nothing to seal: the snapshot is for other programs, and no proof looks at it."""

    def flush(self) -> None:
        """Write what is new."""
        self._due = False
        if self._state is None or self._state.identity.kind != "session":
            return
        name = self._state.identity.run_id
        _write(self._place("sessions") / f"{name}.json", self._snapshot(self._state))
        for checkpoint, content in self._checkpoints.items():
            _write(self._place("checkpoints") / f"{checkpoint}.json", content)
        self._checkpoints.clear()
        if self._lines or self._anew:
            self._write_events(self._place("events") / f"{name}.jsonl")

    def _snapshot(self, state: RunState) -> bytes:
        return snapshot_bytes(state, updated_at=self._at or utc_now(), sequence=self._sequence)

    def _write_events(self, file: Path) -> None:
        lines = b"".join(self._lines)
        if self._anew or not file.exists():
            _write(file, lines)
        else:
            _append(file, lines)
        self._lines.clear()
        self._anew = False

    def _place(self, name: str) -> Path:
        folder = self._folder.parent.parent / name
        if not folder.is_dir():
            make_folder(folder)
            folder.chmod(0o700)
        return folder


def _write(file: Path, content: bytes) -> None:
    replace_file(file, content)
    file.chmod(0o600)


def _append(file: Path, lines: bytes) -> None:
    try:
        with file.open("ab") as out:
            out.write(lines)
    except OSError as exc:
        raise storage_error(exc, file) from exc


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
        "session_id": state.identity.run_id,
        "name": settings.get("name"),
        "created_at": state.progress.started_at,
        "updated_at": updated_at,
        "turn_count": talk.turn,
        "cwd": state.identity.repo,
        "config": state.identity.digests.get("config") or {"model": state.brief.model},
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
        {"id": call["call_id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
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
        "session_id": state.identity.run_id,
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
        return "agent_end", {"response": state.talk.last_words(), "usage": usage_value(state)}
    return None


def usage_value(state: RunState) -> dict[str, int]:
    """What the session used so far."""
    totals = state.usage.totals
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
