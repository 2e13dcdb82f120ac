"""What the views of a run held on the way: a process that died left them as they were after one of the last records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.store.blobs import Blobs
from agentforge.store.log.reader import LOG, LogScan
from agentforge.store.views.projector import Projector


def views_since(folder: Path, blobs: Blobs, *, records: int) -> Mapping[str, Sequence[bytes | None]]:
    """Write the views of the log in `folder` after each of its records from one on.

    Args:
        folder: holds the log alone; the views are written into it.
        records: how far all views are at least.
    Returns:
        What each view held, each content once; None = it was not there yet.
    Raises:
        IntegrityError: the log or a blob that it names was altered or damaged.
    """
    projector, state, scan = Projector(folder, blobs), RunState(), LogScan(folder)
    held: dict[str, list[bytes | None]] = {}
    seen = False
    for record in scan:
        state = evolve(state, record.event, at=record.at)
        projector.observe(record, state, end=scan.size_bytes)
        if record.seq < records:
            continue
        projector.flush()
        _hold(folder, held, new=[None] if seen or not records else [])
        if record.seq == records:
            projector.seal()
            _hold(folder, held, new=[])
        seen = True
    return held


def _hold(folder: Path, held: dict[str, list[bytes | None]], *, new: Sequence[None]) -> None:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name == LOG:
            continue
        content = path.read_bytes()
        contents = held.setdefault(name, [*new])
        if content not in contents:
            contents.append(content)
