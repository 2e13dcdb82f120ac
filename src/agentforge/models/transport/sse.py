"""Server-sent events, from bytes in any pieces to the data of whole events (WHATWG HTML, section 9.2). No I/O."""

from __future__ import annotations

from agentforge.errors import ModelReplyBroken

_MAX_EVENT_BYTES = 32 * 1024 * 1024


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
