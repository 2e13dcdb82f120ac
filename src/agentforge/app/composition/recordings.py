"""The replies of a run as a recording, from its trail: the model `recorded/FILE` gives them again without a provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from agentforge.errors import UsageError
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.models import recorded_line
from agentforge.pipeline.plugins.external_agents import TOOL
from agentforge.pipeline.replay.recording import reply_of
from agentforge.store.blobs import Blobs
from agentforge.store.log.reader import read


def recording_of(folder: Path) -> bytes:
    """The recording of a task: a line for each reply, in the order in which they came.

    Raises:
        UsageError: no model was asked; an agent of another maker did a stage, or several attempts were made.
        IntegrityError: the trail is damaged.
    """
    lines = list(_lines(folder))
    if not lines:
        raise UsageError(f"{folder.name} asked no model, so there is nothing to play again")
    return b"".join(line + b"\n" for line in lines)


def _lines(folder: Path) -> Iterator[bytes]:
    blobs, state, asked = Blobs(folder / "blobs"), RunState(), ("", 0, "")
    for record in read(folder):
        event = record.event
        _refuse(event, folder.name)
        if isinstance(event, kinds.ModelReplied):
            stage, number, request = asked
            yield recorded_line(stage, number, request=json.loads(blobs.get(request)), reply=reply_of(event))
        state = evolve(state, event, at=record.at)
        if isinstance(event, kinds.ModelCalled):
            asked = event.stage, state.progress.stages[event.stage].steps, event.request


def _refuse(event: kinds.Event, name: str) -> None:
    if isinstance(event, kinds.AttemptsStarted):
        raise UsageError(
            f"{name} made several attempts, each with replies of its own", hint=f"export one: {event.children[0]}"
        )
    if isinstance(event, kinds.ToolStarted) and event.name == TOOL:
        raise UsageError(f"{name}: another agent worked on a stage; its work cannot be played again")
