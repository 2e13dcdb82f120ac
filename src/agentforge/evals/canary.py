"""A listener on loopback that nothing may reach: it takes every connection and every datagram, and remembers."""

from __future__ import annotations

import select
import socket
import threading


class Canary:
    """Listens from its making to `close`.

    Attributes:
        port: the same for TCP and UDP.
        heard: one line for each connection and each datagram.
    """

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._tcp.bind(("127.0.0.1", 0))
        self._tcp.listen(64)
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, name="canary", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; what has arrived by now is in `heard`."""
        self._wake.send(b"x")
        self._thread.join()
        for one in (self._tcp, self._udp, self._wake, self._woken):
            one.close()

    def _listen(self) -> None:
        while True:
            ready, _, _ = select.select([self._tcp, self._udp, self._woken], [], [])
            if self._tcp in ready:
                self._tcp.accept()[0].close()
                self.heard.append("a connection")
            if self._udp in ready:
                self._udp.recvfrom(65_536)
                self.heard.append("a datagram")
            if self._woken in ready and len(ready) == 1:
                return
