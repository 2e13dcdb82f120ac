"""A view that makes a long log quick to open: the state after some record, bound to that record's hash.

It is written every few thousand records and used only where the chain of hashes leads to the very record that it names.
What a snapshot says is what the log folds to; `rebuild` writes it anew like every other view.
"""

from __future__ import annotations

import json
from pathlib import Path

from agentforge import __version__
from agentforge.canonical import canonical_bytes, digest_value
from agentforge.errors import IntegrityError
from agentforge.events.state import RunState
from agentforge.frozen import dataclass
from agentforge.store.files import replace_file
from agentforge.store.records import Record

SNAPSHOT = "snapshot.json"
EVERY = 4096
"""Records between two snapshots: fewer than this are folded when a log is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state after a record.

    Attributes:
        end: where the record ends in the log, in bytes.
    """

    state: RunState
    head: str
    records: int
    end: int
    fence: int
    at: str


def snapshot_of(record: Record, state: RunState, *, end: int) -> Snapshot:
    """The snapshot after a record."""
    return Snapshot(state=state, head=record.hash, records=record.seq, end=end, fence=record.fence, at=record.at)


def write_snapshot(folder: Path, snapshot: Snapshot) -> None:
    """Put the snapshot in the place of the one before.

    Raises:
        StorageError: the disk does not take it.
    """
    from agentforge.events.state_codec import encode_state, state_shape

    state = encode_state(snapshot.state)
    value = {name: getattr(snapshot, name) for name in Snapshot.__slots__ if name != "state"}
    value |= {"state": state, "digest": digest_value(state), "shape": state_shape(), "agentforge": __version__}
    replace_file(folder / SNAPSHOT, canonical_bytes(value) + b"\n")


def read_snapshot(folder: Path) -> Snapshot | None:
    """The snapshot of a run; None when there is none, or none that this version can use."""
    try:
        text = (folder / SNAPSHOT).read_bytes()
    except OSError:
        return None
    from agentforge.events.state_codec import decode_state, state_shape

    try:
        value = json.loads(text)
        if (value["shape"], value["agentforge"]) != (state_shape(), __version__):
            return None
        if digest_value(value["state"]) != value["digest"]:
            return None
        numbers = {name: int(value[name]) for name in ("records", "end", "fence")}
        return Snapshot(state=decode_state(value["state"]), head=str(value["head"]), at=str(value["at"]), **numbers)
    except (ValueError, KeyError, TypeError, IntegrityError):
        return None
