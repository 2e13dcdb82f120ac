"""One request to a provider with its retries, and the server-sent events of its answer (WHATWG HTML, section 9.2).

How bytes travel is connection.py's, what they say is the dialects'.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from agentforge.cancellation import pause
from agentforge.errors import ModelError, ModelRateLimited, ModelReplyBroken, ModelUnavailable
from agentforge.models.dialects.refusals import back_off_s, error_for_status, retry_after_s
from agentforge.models.transport.connection import Connection, Response

MAX_REQUESTS = 4
"""HTTP requests in all for one reply."""

RETRIED = (ModelRateLimited, ModelUnavailable, ModelReplyBroken)
"""What is asked again."""
_MAX_ERROR_BYTES = 65_536

Read = TypeVar("Read")
_MAX_EVENT_BYTES = 32 * 1024 * 1024


def _random() -> float:
    import random  # only for the wait before asking again

    return random.random()


class Wire:
    """Posts to one provider and asks again where that can help.

    Args:
        model: `provider/name`, for messages.
        secret: the API key, to keep it out of messages.
        sleep: waits a number of seconds.
        jitter: a number from 0 to 1, new at each call.
        now: seconds since the epoch.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        model: str,
        secret: str = "",
        sleep: Callable[[float], None] = pause,
        jitter: Callable[[], float] = _random,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._connection = connection
        self._model = model
        self._secret = secret
        self._sleep = sleep
        self._jitter = jitter
        self._now = now

    def exchange(
        self, url: str, body: bytes, *, headers: Mapping[str, str], read: Callable[[Response], Read]
    ) -> tuple[Read, int]:
        """Post until `read` returns, at most four times.

        Asked again are 429, 5xx, connections that fail and replies that break off; any other refusal ends at once.

        Args:
            read: reads an accepted response; may raise ModelReplyBroken or ModelUnavailable to have it asked again.
        Returns:
            What `read` returned and the number of HTTP requests made.
        Raises:
            ModelError: the narrowest class, `requests` set.
        Side effects: network; sleeps between tries.
        """
        number = 0
        while True:
            number += 1
            wait_s = None
            try:
                with self._connection.post(url, headers=headers, body=body) as response:
                    if response.status == 200 and not response.headers.get("content-type", "").startswith("text/html"):
                        return read(response), number
                    wait_s = self._asked_to_wait_s(response)
                    raise self._refusal(response)
            except ModelError as exc:
                exc.requests = number
                if number == MAX_REQUESTS or not isinstance(exc, RETRIED):
                    raise
            self._sleep(self._back_off_s(number) if wait_s is None else wait_s)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _asked_to_wait_s(self, response: Response) -> float | None:
        return retry_after_s(response.headers, now=self._now())

    def _back_off_s(self, number: int) -> float:
        return back_off_s(number, jitter=self._jitter())

    def _refusal(self, response: Response) -> ModelError:
        return error_for_status(response.status, _read_text(response), model=self._model, secret=self._secret)


def _read_text(response: Response) -> str:
    collected = b""
    for chunk in response.chunks():
        collected += chunk
        if len(collected) > _MAX_ERROR_BYTES:
            break
    return collected.decode("utf-8", errors="replace")


class EventSplitter:
    """Turns the bytes of a stream into the data of its events; the cut between pieces may fall anywhere.

    Event names are not kept: both dialects repeat them inside the data.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._data: list[str] = []
        self._first = True

    def feed(self, chunk: bytes) -> list[str]:
        """Take the next bytes.

        Returns:
            The data of every event that became complete.
        Raises:
            ModelReplyBroken: one event is larger than 32 MiB.
        """
        self._pieces.append(chunk)
        self._size += len(chunk)
        if self._size > _MAX_EVENT_BYTES:
            raise ModelReplyBroken("the provider sent one event of more than 32 MiB")
        if b"\n" not in chunk and b"\r" not in chunk and not self._pieces[0].endswith(b"\r"):
            return []
        lines = b"".join(self._pieces).splitlines(keepends=True)
        # A last line without its end waits for more; so does one that ends with CR, as LF may follow.
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        self._pieces, self._size = ([rest] if rest else []), len(rest)
        return self._events(lines)

    def close(self) -> list[str]:
        """Say that the stream ended.

        Returns:
            The data of a last event whose closing empty line is missing: some servers forget it.
        """
        lines = b"".join(self._pieces).splitlines(keepends=True)
        self._pieces, self._size = [], 0
        return self._events([*lines, b"\n"])

    def _events(self, lines: list[bytes]) -> list[str]:
        found: list[str] = []
        for raw in lines:
            line = raw.rstrip(b"\r\n").decode("utf-8", errors="replace")
            if self._first:
                line, self._first = line.removeprefix("\ufeff"), False
            if line.startswith("data:"):
                self._data.append(line[5:].removeprefix(" "))
            elif line == "data":
                self._data.append("")
            elif not line and self._data:
                found.append("\n".join(self._data))
                self._data = []
        return found
