"""One line of a log: how a record is written, chained and checked, and the clock of its time stamp. No files here.

A line is the canonical JSON of {at, data, fence, hash, prev, seq, type}, where hash = SHA256(prev || the line without
its hash) and prev is the hash of the record before, 64 zeros for the first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agentforge.canonical import canonical_bytes
from agentforge.errors import IntegrityError
from agentforge.events.kinds import Event
from agentforge.events.storage.state_codec import decode
from agentforge.frozen import dataclass

GENESIS = "0" * 64

_HINT = "the trail was altered or damaged: see `agentforge verify ID`, and restore the folder from a copy"
_KEYS = frozenset({"at", "data", "fence", "hash", "prev", "seq", "type"})
_STAMP_LENGTH = len("2025-12-31T10:00:05.000000Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An event with its place in the chain.

    Attributes:
        seq: counts from 1.
        at: time stamp, ISO 8601 in UTC.
        fence: the writer's token.
        prev: hash of the record before.
    """

    seq: int
    at: str
    fence: int
    prev: str
    hash: str
    event: Event


def write_line(type_name: str, data: Mapping[str, object], *, seq: int, at: str, fence: int, prev: str) -> bytes:
    """The line of a record, line end included."""
    body = canonical_bytes({"at": at, "data": data, "fence": fence, "prev": prev, "seq": seq, "type": type_name})
    digest = _chained(prev, body)
    place = body.rindex(b'"prev":"' + prev.encode("ascii") + b'","seq":')
    return body[:place] + b'"hash":"' + digest.encode("ascii") + b'",' + body[place:] + b"\n"


def read_line(line: bytes, *, seq: int, prev: str, fence: int) -> Record:
    """Read and check one line.

    Args:
        line: with or without its line end.
        seq: the number it must have.
        prev: the hash of the record before.
        fence: the token of the record before; tokens never fall.
    Raises:
        IntegrityError: it is no record, or not this one.
    """
    value = _value(line, seq)
    digest = value["hash"]
    body = line.rstrip(b"\n").replace(b'"hash":"' + str(digest).encode("ascii", "replace") + b'",', b"", 1)
    if value["prev"] != prev or _chained(prev, body) != digest:
        raise IntegrityError(f"record {seq} breaks the chain of hashes", hint=_HINT)
    if value["seq"] != seq or not isinstance(value["fence"], int) or value["fence"] < fence:
        raise IntegrityError(f"record {seq} is out of order", hint=_HINT)
    event = decode(value["type"], value["data"])
    return Record(seq=seq, at=value["at"], fence=value["fence"], prev=prev, hash=digest, event=event)


def check_link(line: bytes, *, seq: int, prev: str) -> str:
    """Check that a line is a link of the chain, without reading what it says.

    Args:
        line: with its line end.
    Returns:
        Its hash.
    Raises:
        IntegrityError: it is not the record `seq`, or was altered.
    """
    place = line.rfind(b'"hash":"')
    digest, rest = line[place + 8 : place + 72], line[place + 74 : -1]
    if place < 0 or not rest.startswith(b'"prev":"%b","seq":%d,' % (prev.encode("ascii"), seq)):
        raise IntegrityError(f"record {seq} breaks the chain of hashes", hint=_HINT)
    if hashlib.sha256(prev.encode("ascii") + line[:place] + rest).hexdigest().encode("ascii") != digest:
        raise IntegrityError(f"record {seq} breaks the chain of hashes", hint=_HINT)
    return digest.decode("ascii")


def _value(line: bytes, seq: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as exc:
        raise IntegrityError(f"record {seq} is not JSON", hint=_HINT) from exc
    if (
        not isinstance(value, dict)
        or value.keys() != _KEYS
        or not isinstance(value["data"], dict)
        or not isinstance(value["at"], str)
    ):
        raise IntegrityError(f"record {seq} has not the form of a record", hint=_HINT)
    return value


def _chained(prev: str, body: bytes) -> str:
    return hashlib.sha256(prev.encode("ascii") + body).hexdigest()


def utc_now() -> str:
    """Now, ISO 8601 in UTC with microseconds: `2025-12-31T10:00:05.123456Z`."""
    return _form(datetime.now(UTC))


def not_before(now: str, last: str) -> str:
    """`now` in the form of `utc_now`, or `last` when the clock was set back: the time stamps of a log never fall."""
    if len(now) != _STAMP_LENGTH or not now.endswith("Z"):
        now = _form(datetime.fromisoformat(now))
    return max(now, last)


def _form(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
