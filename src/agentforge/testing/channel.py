"""The parent's end of the result channel: reads signed records and says what is wrong with them."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import threading
from dataclasses import dataclass
from typing import Any

from agentforge.underway import counter

_CHUNK_BYTES = 65_536
_LIMIT_BYTES = 256 * 1024 * 1024
_DRAIN_S = 2.0
_COLLECTED, _KIND = b'"kind":"collected"', b'"kind":"%s"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What came over the channel: the genuine records in order, and what was wrong."""

    records: tuple[dict[str, Any], ...]
    problems: tuple[str, ...]


class Channel:
    """A pipe that the child writes and a thread here empties.

    Attributes:
        descriptor: the child's end; pass it on with `pass_fds`.
        key: the secret that signs the records; the child reads it before any code of the project runs.
    """

    def __init__(self) -> None:
        self._progress = _Progress()
        self._read_end, self.descriptor = os.pipe()
        self.key = secrets.token_bytes(32)
        self._chunks: list[bytes] = []
        self._size = 0
        self._thread = threading.Thread(target=self._drain, name="test results", daemon=True)
        self._thread.start()

    def close(self) -> Received:
        """Close the channel after the child has ended and check what came.

        Side effects: waits at most two seconds for a process that still holds the other end.
        """
        data, lost = self.drained()
        records, problems = verified(data, key=self.key)
        return Received(records=records, problems=(*problems, *lost))

    def drained(self) -> tuple[bytes, tuple[str, ...]]:
        """Close the channel after the child has ended; all that came, and what was lost of it, in words.

        Side effects: waits at most two seconds for a process that still holds the other end.
        """
        os.close(self.descriptor)
        self._thread.join(_DRAIN_S)
        problems: tuple[str, ...] = ()
        if self._thread.is_alive():
            problems = ("a process that the tests started is still alive and holds the result channel",)
        if self._size > _LIMIT_BYTES:
            problems = (*problems, f"more than {_LIMIT_BYTES} bytes of results; the rest was dropped")
        return b"".join(self._chunks), problems

    def _drain(self) -> None:
        while True:
            chunk = os.read(self._read_end, _CHUNK_BYTES)
            if not chunk:
                os.close(self._read_end)
                return
            self._size += len(chunk)
            self._progress.see(chunk)
            if self._size <= _LIMIT_BYTES:
                self._chunks.append(chunk)


class _Progress:
    """Counts what passes by, unchecked, for those who wait; no verdict comes from it."""

    def __init__(self) -> None:
        self._counts = {b"result": counter("tests"), b"mutant": counter("mutants")}
        self._done: dict[bytes, int] = dict.fromkeys(self._counts, 0)
        self._of = 0
        self._begun = b""

    def see(self, chunk: bytes) -> None:
        """Take the next piece of the stream."""
        *lines, self._begun = (self._begun + chunk).split(b"\n")
        self._of += sum(line.partition(b"[")[2].count(b'","') + 1 for line in lines if _COLLECTED in line)
        for kind, count in self._counts.items():
            found = sum(_KIND % kind in line for line in lines)
            if found:
                self._done[kind] += found
                of = self._of if kind == b"result" and self._done[kind] <= self._of else 0
                count(self._done[kind], of)  # what runs a test more than once has no end that is known before


def verified(data: bytes, *, key: bytes) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
    """Take the genuine records of a stream; a foreign line, a gap or a torn line is a problem in words."""
    records: list[dict[str, Any]] = []
    problems: list[str] = []
    lines = data.split(b"\n")
    if lines.pop():
        problems.append("the last result record is torn")
    for line in lines:
        record = _genuine(line, number=len(records), key=key)
        if record is None:
            problems.append("something wrote into the result channel that the test runner did not send")
            break
        records.append(record)
    return tuple(records), tuple(problems)


def _genuine(line: bytes, *, number: int, key: bytes) -> dict[str, Any] | None:
    head, marker, rest = line.partition(b',"r":')
    if not marker or not rest.endswith(b"}"):
        return None
    body = rest[:-1]
    signature = hmac.digest(key, str(number).encode() + b":" + body, "sha256").hex()
    if not hmac.compare_digest(head, f'{{"n":{number},"s":"{signature}"'.encode()):
        return None
    record = json.loads(body)
    return record if isinstance(record, dict) else None
