"""A server on loopback that takes what is posted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Inbox:
    """What was posted, and what is answered: 204 with an address elsewhere, unless a test says otherwise.

    Attributes:
        got: (path, headers by lower-case names, body), oldest first.
    """

    url: str = ""
    status: int = 204
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def serving(box: Inbox) -> Iterator[Inbox]:
    """Fill the box until the block ends."""

    class Post(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            box.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(box.status)
            self.send_header("Location", f"{box.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Post) as server:
        box.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield box
        server.shutdown()
        thread.join()
