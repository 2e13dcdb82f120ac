"""A provider on loopback that speaks streamed chat completions and looks at its client whenever a request has arrived."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.scenes import READ_LINES, read_arguments

_PATIENCE_S = 60.0
INTAKE = {
    "goal": "Say what the modules do",
    "examples": [],
    "extracted_intent": {"action": "analyze", "target": "src", "scope": "module"},
    "initial_complexity": "simple",
    "identified_ambiguities": [],
    "suggested_approach": "read them",
}


@dataclass(slots=True)
class Connection:
    """One client; requests are read from it and replies are streamed to it."""

    sock: socket.socket
    _kept: bytearray = field(default_factory=bytearray)

    def request(self) -> bytes:
        """The body of the next request.

        Raises:
            EOFError: the client hung up.
        """
        head, _, rest = self._until(b"\r\n\r\n").partition(b"\r\n\r\n")
        fields = (line.partition(b":") for line in head.lower().split(b"\r\n")[1:])
        size = next(int(value) for name, _, value in fields if name == b"content-length")
        while len(rest) < size:
            rest += self._more()
        self._kept = bytearray(rest[size:])
        return bytes(rest[:size])

    def reply(self, name: str, arguments: dict[str, Any], *, number: int) -> None:
        """Stream a reply that calls one tool."""
        self.call([(name, arguments)], number=number)

    def call(self, calls: list[tuple[str, dict[str, Any]]], *, number: int, prompt_tokens: int = 3000) -> None:
        """Stream a reply that calls tools."""
        made = [
            {
                "index": index,
                "id": f"call_{number}" if not index else f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for index, (name, arguments) in enumerate(calls)
        ]
        text = f"Step {number}: I look at the next module."
        self._stream(
            _choice({"role": "assistant", "content": text}),
            _choice({"tool_calls": made}),
            finish="tool_calls",
            prompt_tokens=prompt_tokens,
        )

    def say(self, text: str) -> None:
        """Stream a reply without a call."""
        self._stream(_choice({"role": "assistant", "content": text}), finish="stop")

    def _stream(self, *chunks: dict[str, Any], finish: str, prompt_tokens: int = 3000) -> None:
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 60, "total_tokens": prompt_tokens + 60}
        chunks = (*chunks, _choice({}, finish=finish), {"choices": [], "usage": usage})
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
        lines = [b"data: " + json.dumps({**head, **chunk}).encode() + b"\n\n" for chunk in chunks]
        body = b"".join([*lines, b"data: [DONE]\n\n"])
        kind = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.sock.sendall(kind + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._kept:
            self._kept += self._more()
        return bytes(self._kept)

    def _more(self) -> bytes:
        data = self.sock.recv(1 << 20)
        if not data:
            raise EOFError
        return data


class Provider:
    """A listening socket; nothing runs in the background."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(_PATIENCE_S)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    @contextmanager
    def client(self) -> Iterator[Connection]:
        """Wait for the next client.

        Raises:
            TimeoutError: none came.
        """
        sock, _ = self._socket.accept()
        sock.settimeout(_PATIENCE_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with sock:
            yield Connection(sock)

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()


def serve(provider: Provider, steps: int, arrived: Any) -> None:
    """Answer until `steps` steps were begun: a record where only a record can be submitted, else a file to read.

    Args:
        arrived: called with the number of each step's request, before it is answered.
    """
    number = 0
    while True:
        with provider.client() as client:
            try:
                while True:
                    body = json.loads(client.request())
                    names = [tool["function"]["name"] for tool in body.get("tools", ())]
                    if names == ["submit_artifact"]:
                        client.reply("submit_artifact", {"artifact": INTAKE}, number=0)
                        continue
                    number += 1
                    arrived(number)
                    if number > steps:
                        return
                    client.reply("read_file", {**read_arguments(number), "limit": READ_LINES}, number=number)
            except EOFError:
                continue  # a client that opens a connection for each request


def _choice(delta: dict[str, Any], *, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
