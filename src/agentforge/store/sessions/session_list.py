"""What sessions there are: those with a log, and snapshots that agentforge-harness 0.1 left without one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentforge.errors import IntegrityError
from agentforge.frozen import dataclass
from agentforge.store.log.reader import LOG, fold
from agentforge.store.sessions.views import snapshot_value

SESSIONS = "sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session.

    Attributes:
        goal: what the user said first.
        open: its last turn was cut off; resuming goes on with it.
        imported: it has no log yet: a snapshot of agentforge-harness 0.1.
        problem: why it cannot be read, "" when it can.
    """

    session_id: str
    name: str = ""
    cwd: str = ""
    created_at: str = ""
    updated_at: str = ""
    turns: int = 0
    goal: str = ""
    model: str = ""
    open: bool = False
    imported: bool = False
    problem: str = ""


def list_sessions(data: Path) -> list[SessionRow]:
    """All sessions, the one that was used last first; what cannot be read is named, not hidden."""
    logs = {log.parent.name: log for log in (data / "runs").glob(f"*/{LOG}")}
    rows = [row for log in logs.values() for row in _of_log(log, data)]
    rows += [row for row in _foreign(data) if row.session_id not in logs]
    return sorted(rows, key=lambda row: row.updated_at, reverse=True)


def _of_log(log: Path, data: Path) -> Iterator[SessionRow]:
    """Subagents have logs, too, and are no sessions. A snapshot that is newer than its log saves reading it."""
    session_id = log.parent.name
    kind = _kind(log)
    if kind not in ("session", ""):
        return
    view = data / SESSIONS / f"{session_id}.json"
    try:
        if view.is_file() and view.stat().st_mtime_ns > log.stat().st_mtime_ns:
            value = json.loads(view.read_bytes())
        else:
            state = fold(log.parent).state
            value = snapshot_value(state, updated_at=state.progress.last_at)
        yield _row(session_id, value)
    except (OSError, ValueError, IntegrityError) as exc:
        used = datetime.fromtimestamp(log.stat().st_mtime, UTC).isoformat() if log.exists() else ""
        yield SessionRow(session_id=session_id, updated_at=used, problem=str(exc))


def _kind(log: Path) -> str:
    """What kind of run a log holds, by its first line; "" when that cannot be read."""
    try:
        with log.open("rb") as file:
            return str(json.loads(file.readline())["data"]["kind"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _foreign(data: Path) -> Iterator[SessionRow]:
    for file in (data / SESSIONS).glob("*.json"):
        try:
            value = json.loads(file.read_bytes())
            if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
                raise ValueError("it is no session")
        except (OSError, ValueError) as exc:
            yield SessionRow(session_id=file.stem, imported=True, problem=f"{file.name} is skipped: {exc}")
            continue
        yield _row(file.stem, value, imported=True)


def _row(session_id: str, value: Mapping[str, Any], *, imported: bool = False) -> SessionRow:
    messages = [one for one in value.get("messages") or () if isinstance(one, dict)]
    said = next((str(one.get("content") or "") for one in messages if one.get("role") == "user"), "")
    config = value.get("config") if isinstance(value.get("config"), dict) else {}
    return SessionRow(
        session_id=session_id,
        name=str(value.get("name") or ""),
        cwd=str(value.get("cwd") or ""),
        created_at=str(value.get("created_at") or ""),
        updated_at=str(value.get("updated_at") or ""),
        turns=int(value.get("turn_count") or 0),
        goal=" ".join(str(value.get("goal") or said).split())[:200],
        model=_model_of(config),
        open=bool(value.get("open")),
        imported=imported,
    )


def _model_of(config: Any) -> str:
    model = config.get("model") if isinstance(config, dict) else ""
    return str(model.get("name", "")) if isinstance(model, dict) else str(model or "")
