"""How long a connection may take to say what it wants: who sends a byte now and then holds no connection open."""

from __future__ import annotations

import asyncio
from typing import Any

HEADER_S = 10.0
BODY_S = 30.0


def patient_protocol(*, header_s: float = HEADER_S, body_s: float = BODY_S) -> type[Any]:
    """The protocol of the server with a limit of time.

    Args:
        header_s: seconds from the beginning of a connection, or of a further request on it, to the end of the headers.
        body_s: seconds from there to the end of the body.
    """
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Patient(HttpToolsProtocol):
        """Closes a connection whose request does not come to its end."""

        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            """Begin to count."""
            super().connection_made(transport)
            self._expect(header_s)

        def connection_lost(self, exc: Exception | None) -> None:
            """Count no more."""
            self._expect(None)
            super().connection_lost(exc)

        def on_message_begin(self) -> None:
            """Count a further request of the connection anew; the first one is counted from its beginning."""
            if self._late is None:
                self._expect(header_s)
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            """Go on counting for the body."""
            self._expect(body_s)
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            """Stop counting: the answer may take its time."""
            self._expect(None)
            super().on_message_complete()

        def _expect(self, seconds: float | None) -> None:
            if self._late is not None:
                self._late.cancel()
            self._late = None if seconds is None else self.loop.call_later(seconds, self.transport.close)

    return Patient
