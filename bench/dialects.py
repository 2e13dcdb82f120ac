"""A provider on loopback for any agent: streamed chat completions and the Responses API, answered by one function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.counting import read

_READS = ("read_file", "read", "view_file")
_SHELLS = ("shell", "bash", "exec_command", "shell_command", "run_command")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request.

    Attributes:
        number: counts from 1 within a scene.
        tools: parameters (JSON schema) by name.
        text: all that the model would read, in the order in which providers read it: tools, then messages.
    """

    number: int
    tools: Mapping[str, Mapping[str, Any]]
    text: str

    @property
    def size(self) -> int:
        """What a provider would report: a token for every 4 characters."""
        return len(self.text) // 4

    def read(self, path: str, *, limit: int) -> tuple[str, str] | None:
        """A call that reads the beginning of a file, with the tool that there is; None = there is none."""
        name = next((name for name in _READS if name in self.tools), None)
        if name is None:
            return self.run(f"sed -n 1,{limit}p {path}")
        known = self.tools[name].get("properties", {})
        key = next((key for key in ("path", "file_path", "filePath") if key in known), "path")
        return name, json.dumps({key: path, "limit": limit})

    def run(self, command: str) -> tuple[str, str] | None:
        """A call that runs a command line, with the tool that there is; None = there is none."""
        name = next((name for name in _SHELLS if name in self.tools), None)
        if name is None:
            return None
        known = self.tools[name].get("properties", {})
        key = "cmd" if "cmd" in known else "command"
        value: object = ["bash", "-c", command] if known.get(key, {}).get("type") == "array" else command
        return name, json.dumps({key: value})


@dataclass(frozen=True, kw_only=True)
class Say:
    """One answer.

    Attributes:
        calls: (tool, arguments as they stand in the stream).
        status: of HTTP; 200 is a stream.
        cut: the stream breaks off in the middle of `text`.
    """

    text: str = ""
    calls: tuple[tuple[str, str] | None, ...] = ()
    status: int = 200
    cut: bool = False


Script = Callable[[Asked], Say]


@dataclass
class Desk:
    """The provider; `script` answers, `asked` is what arrived since it was set."""

    script: Script = lambda _asked: Say(text="hello")
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def play(self, script: Script) -> None:
        """Begin a new scene."""
        with self.arrived:
            self.script, self.asked = script, []

    def answer(self, body: dict[str, Any]) -> Say:
        """Note a request and answer it."""
        with self.arrived:
            told = Asked(number=len(self.asked) + 1, tools=dict(_tools(body)), text=read(body))
            if len(self.asked) > 2:
                self.asked[-1] = replace(self.asked[-1], text="")  # half a gigabyte, otherwise
            self.asked.append(told)
            self.arrived.notify_all()
            return self.script(told)

    def wait(self, number: int, *, seconds: float) -> bool:
        """Wait until that many requests have arrived in this scene."""
        with self.arrived:
            return self.arrived.wait_for(lambda: len(self.asked) >= number, timeout=seconds)


@contextmanager
def open_desk() -> Iterator[Desk]:
    """A provider on a free port, until the end of the block."""
    desk = Desk()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _door(desk))
    server.daemon_threads = True
    desk.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield desk
    finally:
        server.shutdown()
        server.server_close()


def _door(desk: Desk) -> type[BaseHTTPRequestHandler]:
    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._whole(404, b'{"error": {"message": "there is nothing"}}')

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not self.path.endswith(("/chat/completions", "/responses")):
                self._whole(404, b'{"error": {"message": "there is nothing"}}')
                return
            said = desk.answer(json.loads(data))
            if said.status != 200:
                error = {"error": {"message": "try again", "type": "server_error", "code": "busy"}}
                self._whole(said.status, json.dumps(error).encode())
                return
            size = desk.asked[-1].size if desk.asked else 0
            stream = _chat(said, size) if self.path.endswith("/chat/completions") else _responses(said, size)
            self._stream(b"".join(stream), cut=said.cut)

        def _whole(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if status == 429:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, body: bytes, *, cut: bool) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(body), body))
            if not cut:
                self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()
            self.close_connection = cut

        def log_message(self, *_arguments: object) -> None:
            pass

        def handle(self) -> None:
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):
                pass  # the program was killed: that is a scene

    return Door


def _tools(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in body.get("tools") or ():
        told = tool.get("function", tool)
        if "name" in told:
            yield told["name"], told.get("parameters") or {}


def _chat(said: Say, size: int) -> Iterator[bytes]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "bench"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"

    yield chunk({"role": "assistant", "content": said.text})
    if said.cut:
        return
    calls = [call for call in said.calls if call is not None]
    for index, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": arguments}
        made = {"index": index, "id": f"call_{id(said)}_{index}", "type": "function", "function": function}
        yield chunk({"tool_calls": [made]})
    yield chunk({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": size, "completion_tokens": 60, "total_tokens": size + 60}
    yield b"data: " + json.dumps({**head, "choices": [], "usage": usage}).encode() + b"\n\ndata: [DONE]\n\n"


def _responses(said: Say, size: int) -> Iterator[bytes]:
    def event(kind: str, **more: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()

    yield event("response.created", response={"id": "r"})
    content = [{"type": "output_text", "text": said.text, "annotations": []}]
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
    yield event("response.output_item.added", output_index=0, item={**item, "content": []})
    yield event("response.output_text.delta", item_id="m", output_index=0, content_index=0, delta=said.text)
    if said.cut:
        return
    yield event("response.output_item.done", output_index=0, item=item)
    for index, (name, arguments) in enumerate((call for call in said.calls if call is not None), start=1):
        call = {"type": "function_call", "id": f"f{index}", "call_id": f"call_{id(said)}_{index}", "name": name}
        yield event("response.output_item.done", output_index=index, item={**call, "arguments": arguments})
    usage = {
        "input_tokens": size,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 60,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": size + 60,
    }
    yield event("response.completed", response={"id": "r", "usage": usage})
