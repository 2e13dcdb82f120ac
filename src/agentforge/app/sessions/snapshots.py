"""Sessions that agentforge-harness 0.1 left as snapshots, looked at without being gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sessions.checkpoints import talk_value
from agentforge.app.sessions.logs import snapshot_file
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.safety.text.redaction import redact
from agentforge.store.sessions.imports import read_snapshot_file

if TYPE_CHECKING:
    pass
    from agentforge.events.state.talk import Entry
    from agentforge.store.sessions.imports import Foreign


def snapshot_state(data: Path, text: str) -> RunState | None:
    """What a snapshot amounts to as a session; None when none is called so, or begins so. Nothing is written.

    Raises:
        IntegrityError: it was cut off, or is no session.
    """

    file = snapshot_file(data, text)
    return None if file is None else _state(read_snapshot_file(file), session_id=file.stem)


def _state(found: Foreign, *, session_id: str) -> RunState:

    talk = replace(found.talk, entries=tuple(map(_plain, found.talk.entries)))
    began = kinds.RunStarted(
        kind="session", run_id=session_id, request="", repo=found.cwd, base_commit="", worktree=found.cwd,
        model=found.model, limits={},
    )  # fmt: skip
    restored = kinds.CheckpointRestored(checkpoint_id="import", what="conversation", talk=talk_value(talk))
    state = evolve(RunState(), began, at=found.created_at)
    state = evolve(state, restored, at=found.updated_at or found.created_at)
    counted = {name: found.usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")}
    return replace(state, totals=replace(state.totals, cost_known=False, **counted))


def _plain(entry: Entry) -> Entry:
    """Without what looks like a secret: nobody took it out when this was written."""

    def scrub(text: str) -> str:
        return redact(text, secrets=()).text

    calls: tuple[Mapping[str, object], ...] = tuple(
        {**call, "arguments": scrub(str(call["arguments"]))} for call in entry.calls
    )
    return replace(entry, text=scrub(entry.text), summary=scrub(entry.summary), calls=calls)
