"""A view that makes a long log quick to open: the state after some record, bound to the chain of hashes.

Every few thousand records the log holds the digest of its own state (`StateSealed`); the snapshot is that state. It is used
only where the chain leads to the very record that it names and the record behind it seals the very same state. So nobody
can put another state in its place; `rebuild` writes it anew like every other view.
"""

from __future__ import annotations

import json
from pathlib import Path

from agentforge import __version__
from agentforge.errors import IntegrityError
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import decode_state, encode_state, state_shape, value_digest
from agentforge.frozen import dataclass
from agentforge.store.log.files import replace_file
from agentforge.store.log.records import Record

SNAPSHOT = "snapshot.json"
EVERY = 2048
"""Records between two seals: about fewer than this are folded when a log is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state after a record.

    Attributes:
        end: where the record ends in the log, in bytes.
        digest: of the state, as the next record seals it.
    """

    state: RunState
    digest: str
    head: str
    records: int
    end: int
    fence: int
    at: str


def snapshot_of(record: Record, state: RunState, *, end: int, digest: str) -> Snapshot:
    """The snapshot after a record."""
    return Snapshot(
        state=state, digest=digest, head=record.hash, records=record.seq, end=end, fence=record.fence, at=record.at
    )


def write_snapshot(folder: Path, snapshot: Snapshot) -> None:
    """Put the snapshot in the place of the one before.

    Raises:
        StorageError: the disk does not take it.
    """
    state = encode_state(snapshot.state)
    value = {name: getattr(snapshot, name) for name in Snapshot.__slots__ if name != "state"}
    value |= {"state": state, "shape": state_shape(), "agentforge": __version__}
    replace_file(folder / SNAPSHOT, json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n")


def read_snapshot(folder: Path) -> Snapshot | None:
    """The snapshot of a run; None when there is none, or none that this version can use."""
    try:
        text = (folder / SNAPSHOT).read_bytes()
    except OSError:
        return None

    try:
        value = json.loads(text)
        if (value["shape"], value["agentforge"]) != (state_shape(), __version__):
            return None
        if value_digest(value["state"]) != value["digest"]:
            return None
        return Snapshot(
            state=decode_state(value["state"]),
            digest=str(value["digest"]),
            head=str(value["head"]),
            records=int(value["records"]),
            end=int(value["end"]),
            fence=int(value["fence"]),
            at=str(value["at"]),
        )
    except (ValueError, KeyError, TypeError, IntegrityError):
        return None
