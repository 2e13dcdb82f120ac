"""Tapes: HTTP exchanges recorded below the wire, byte for byte, and played again instead of the network.

A tape is JSONL, one line per exchange: method, path, digest of the body, status, headers, body. Neither the key nor any
other header of the request is recorded.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from agentforge.canonical import digest_bytes
from agentforge.errors import ConfigError, ModelRequestRejected
from agentforge.models.stand_ins.recorded import append_line
from agentforge.models.transport.connection import Connection, Response

_KEPT_HEADERS = frozenset({"content-type", "retry-after"})


class TapeRecorder:
    """A connection that writes down what passes over another one."""

    def __init__(self, connection: Connection, path: str | Path) -> None:
        self._connection = connection
        self._path = Path(path)

    def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Response:
        """Send the request on and record the whole response before any of it is handed out."""
        with self._connection.post(url, headers=headers, body=body) as response:
            data = b"".join(response.chunks())
        kept = {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}
        text = data.decode("utf-8", errors="surrogateescape")  # and JSON escapes what is no UTF-8
        line = {**_key(url, body), "status": response.status, "headers": kept, "body": text}
        append_line(self._path, json.dumps(line).encode("ascii"))
        return _Played(response.status, kept, data)

    def close(self) -> None:
        """Close the connection that is recorded."""
        self._connection.close()


class TapePlayer:
    """A connection that answers from a tape. Equal requests get their responses in the order of recording.

    Raises:
        ConfigError: the tape cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._responses: dict[str, deque[_Played]] = {}
        try:
            lines = [json.loads(line) for line in self._path.read_bytes().splitlines()]
            for line in lines:
                key = _joined({name: line[name] for name in ("method", "path", "digest")})
                data = line["body"].encode("utf-8", errors="surrogateescape")
                self._responses.setdefault(key, deque()).append(_Played(line["status"], line["headers"], data))
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise ConfigError(f"tape {path} cannot be read: {exc!r}") from exc

    def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Response:
        """Give the recorded response.

        Raises:
            ModelRequestRejected: the request is not on the tape, or was asked more often than then.
        """
        del headers  # not recorded: they carry the key
        waiting = self._responses.get(_joined(_key(url, body)))
        if not waiting:
            raise ModelRequestRejected(f"tape {self._path} has no (more) response to this request to {url}")
        return waiting.popleft()

    def close(self) -> None:
        """Nothing is open."""


class _Played:
    def __init__(self, status: int, headers: Mapping[str, str], data: bytes) -> None:
        self.status = status
        self.headers = headers
        self._data = data

    def chunks(self) -> Iterator[bytes]:
        """The body in one piece."""
        yield self._data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        return None


def _key(url: str, body: bytes) -> dict[str, str]:
    return {"method": "POST", "path": urlsplit(url).path, "digest": digest_bytes(body)}


def _joined(key: Mapping[str, str]) -> str:
    return " ".join((key["method"], key["path"], key["digest"]))
