"""Sessions and checkpoints of agentforge-harness 0.1 as conversations. What a provider would refuse is put right."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from agentforge.errors import IntegrityError
from agentforge.events.state.talk import Entry, Talk
from agentforge.frozen import dataclass

_LOST = "The session was saved before this call had a result."


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """A snapshot that was read.

    Attributes:
        usage: tokens of the whole session by name.
        notes: what was put right.
    """

    session_id: str
    cwd: str
    created_at: str
    talk: Talk
    updated_at: str = ""
    model: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_snapshot_file(file: Path) -> Foreign:
    """Read a session or checkpoint file.

    Raises:
        IntegrityError: it is cut off, is no JSON, or is no session.
    """
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError) as exc:
        raise IntegrityError(
            f"{file} cannot be read: {exc}", hint="it was cut off or altered; use another one"
        ) from exc
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        raise IntegrityError(f"{file} is not a session: it holds no list of messages")
    if value.get("schema_version") != 1:
        raise IntegrityError(f"{file} has schema version {value.get('schema_version')!r}, 1 is known")
    return snapshot_talk(value, stem=file.stem)


def snapshot_talk(value: Mapping[str, Any], *, stem: str = "") -> Foreign:
    """The conversation of a snapshot; its calls are all answered, its results all asked for."""
    entries, notes = _entries([one for one in value["messages"] if isinstance(one, dict)])
    todos = {str(key): item for key, item in _mapping(value.get("todos")).items()}
    turns = max((entry.turn for entry in entries), default=0)
    said = [entry.text for entry in entries if entry.kind == "user"]
    settings = {
        name: found
        for name, found in (
            ("name", value.get("name")),
            ("work_mode", "plan" if value.get("mode") == "plan" else None),
            ("skills", value.get("active_skills") or None),
            ("tools", value.get("active_tools") or None),
            ("mcp_servers", value.get("mcp_servers") or None),
        )
        if found
    }
    return Foreign(
        session_id=str(value.get("session_id") or stem),
        cwd=str(value.get("cwd") or ""),
        created_at=str(value.get("created_at") or ""),
        updated_at=str(value.get("updated_at") or ""),
        model=str(_mapping(_mapping(value.get("config")).get("model")).get("name") or ""),
        usage={name: one for name, one in _mapping(value.get("total_usage")).items() if isinstance(one, int)},
        talk=Talk(
            turn=turns,
            standing=turns,
            entries=tuple(entries),
            goal=said[0][:1000] if said else "",
            asked=tuple(text[:300] for text in said[-5:]),
            settings=settings,
            todos=todos,
        ),
        notes=tuple(notes),
    )


def _entries(messages: Sequence[Mapping[str, Any]]) -> tuple[list[Entry], list[str]]:
    entries: list[Entry] = []
    notes: list[str] = []
    waiting: dict[str, str] = {}
    turn = 0
    for message in messages:
        role, text = message.get("role"), _text(message.get("content"))
        if role == "tool":
            call_id = str(message.get("tool_call_id") or "")
            name = waiting.pop(call_id, None)
            if name is None:
                notes.append(f"a result without its call was left out: {call_id or 'no id'}")
                continue
            entries.append(_result(turn, call_id, name, text))
            continue
        entries += _answered(turn, waiting, notes)
        if role == "user" and text.strip():
            turn += 1
            entries.append(Entry(kind="user", turn=turn, text=text))
        elif role == "assistant":
            calls = _calls(message.get("tool_calls"))
            waiting = {str(call["call_id"]): str(call["name"]) for call in calls}
            if text.strip() or calls:
                entries.append(Entry(kind="assistant", turn=turn, step=len(entries), text=text, calls=tuple(calls)))
    return [*entries, *_answered(turn, waiting, notes)], notes


def _answered(turn: int, waiting: dict[str, str], notes: list[str]) -> list[Entry]:
    lost = [_result(turn, call_id, name, _LOST) for call_id, name in waiting.items()]
    notes += [f"a call without a result was answered: {entry.name}" for entry in lost]
    waiting.clear()
    return lost


def _result(turn: int, call_id: str, name: str, text: str) -> Entry:
    summary = " ".join(text.split())[:120] or name
    return Entry(kind="tool", turn=turn, text=text, call_id=call_id, name=name, status="success", summary=summary)


def _calls(value: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for call in value if isinstance(value, list) else ():
        function = _mapping(call.get("function")) if isinstance(call, dict) else {}
        name, call_id = function.get("name"), str(call.get("id") or "") if isinstance(call, dict) else ""
        known = {one["call_id"] for one in found}
        if name and call_id and call_id not in known:
            arguments = function.get("arguments")
            raw = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
            found.append({"call_id": call_id, "name": str(name), "arguments": raw})
    return found


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(str(part.get("text", "")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
