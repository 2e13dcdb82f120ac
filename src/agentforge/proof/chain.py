"""The chain of records, checked by its definition.

A line is the canonical JSON of {at, data, fence, hash, prev, seq, type}; hash = SHA256(prev || canonical JSON without hash);
prev is the hash of the record before, 64 zeros for the first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from agentforge.canonical import canonical_bytes
from agentforge.errors import IntegrityError
from agentforge.events.kinds import Event
from agentforge.events.storage.state_codec import decode
from agentforge.frozen import dataclass

GENESIS = "0" * 64
LOG = "events.jsonl"

_KEYS = frozenset({"at", "data", "fence", "hash", "prev", "seq", "type"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One record with its place in the chain."""

    seq: int
    at: str
    fence: int
    hash: str
    event: Event


def without_torn_end(log: bytes) -> bytes:
    """A log without what a process that died did not write to its end: one line without an end, or one that holds NUL."""
    kept = log[: log.rfind(b"\n") + 1]
    last = kept[kept[:-1].rfind(b"\n") + 1 :]
    return kept[: -len(last)] if kept == log and b"\0" in last else kept


def links(log: bytes) -> Iterator[Link]:
    """Yield the records of a log, each checked against the one before.

    Raises:
        IntegrityError: names the first record that is not what was written.
    """
    lines = log.split(b"\n")
    if lines.pop() != b"":
        raise _broken(len(lines) + 1, "is incomplete: its line has no end")
    head, fence, at = GENESIS, 0, ""
    for seq, line in enumerate(lines, start=1):
        value = _value(line, seq)
        if value["seq"] != seq or value["prev"] != head:
            raise _broken(seq, "does not follow the record before it")
        if not isinstance(value["fence"], int) or value["fence"] < fence or value["at"] < at:
            raise _broken(seq, "goes back in time or writer")
        body = {key: item for key, item in value.items() if key != "hash"}
        if hashlib.sha256(head.encode("ascii") + canonical_bytes(body)).hexdigest() != value["hash"]:
            raise _broken(seq, "is not what its hash says")
        head, fence, at = value["hash"], value["fence"], value["at"]
        data: Mapping[str, object] = value["data"]
        yield Link(seq=seq, at=at, fence=fence, hash=head, event=decode(value["type"], data))


def _value(line: bytes, seq: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
        same = canonical_bytes(value) == line
    except (ValueError, RecursionError) as exc:
        raise _broken(seq, "is not JSON") from exc
    if not isinstance(value, dict) or value.keys() != _KEYS or not isinstance(value["data"], dict):
        raise _broken(seq, "has not the form of a record")
    if not all(isinstance(value[key], str) for key in ("at", "hash", "prev", "type")):
        raise _broken(seq, "has not the form of a record")
    if not same:
        raise _broken(seq, "is not written in the canonical form")
    return value


def _broken(seq: int, how: str) -> IntegrityError:
    return IntegrityError(f"record {seq} {how}", hint="the trail was altered or damaged; restore it from a copy")
