"""A loopback provider that speaks both dialects, answers as it is told, misbehaves on demand and remembers what it was asked.

Run it by hand: `python -m tests.support.loopback.provider [PORT]` answers every request with "hello".
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def dialect(self) -> str:
        """`anthropic` or `openai`, by the path."""
        return "anthropic" if self.path.endswith("/messages") else "openai"


_PATIENCE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Say:
    """A good reply; `calls` are (name, arguments as text). `pieces` = characters a chunk. `usage` None = none is sent."""

    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = ""
    usage: tuple[int, int, int] | None = (100, 20, 0)
    """prompt (inclusive), completion, cached"""
    pieces: int = 7
    cut_after: int | None = None
    """events that are sent before the connection is cut"""
    pause_s: float = 0.0
    """between events"""
    held: threading.Event | None = None
    """what is awaited before the second half of the events"""
    streamed: bool = True


@dataclass(frozen=True, kw_only=True)
class Refuse:
    """An HTTP error."""

    status: int
    message: str = "no"
    kind: str = "error"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Raw:
    """Any bytes, sent as they are in these chunks."""

    chunks: tuple[bytes, ...]
    status: int = 200
    content_type: str = "text/event-stream"
    cut: bool = False
    pause_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class HangUp:
    """The connection is closed without a word."""


Plan = Say | Refuse | Raw | HangUp


class LoopbackProvider:
    """A server on 127.0.0.1. Plans are used up in order; then `default`, or what `answer(asked)` gives."""

    def __init__(self, port: int = 0, *, default: Plan | None = None) -> None:
        self.asked: list[Asked] = []
        self.default: Plan = default or Refuse(status=500, message="the test planned no reply")
        self.answer: Callable[[Asked], Plan] | None = None
        self.connections = 0
        self._plans: deque[Plan] = deque()
        self._server = _Server(("127.0.0.1", port), _Exchange)
        self._server.provider = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Base URL without `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def plan(self, *plans: Plan) -> None:
        """Queue plans for the next requests."""
        self._plans.extend(plans)

    def next_plan(self, asked: Asked) -> Plan:
        """The plan for a request."""
        if self._plans:
            return self._plans.popleft()
        return self.answer(asked) if self.answer else self.default

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    provider: LoopbackProvider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up in the middle are part of the tests."""


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.provider.connections += 1

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = Asked(path=self.path, headers={k.lower(): v for k, v in self.headers.items()}, body=body)
        self.server.provider.asked.append(asked)
        plan = self.server.provider.next_plan(asked)
        if isinstance(plan, Refuse):
            self._refuse(plan)
        elif isinstance(plan, HangUp):
            self._hang_up()
        elif isinstance(plan, Raw):
            self._stream(
                plan.chunks, status=plan.status, content_type=plan.content_type, cut=plan.cut, pause_s=plan.pause_s
            )
        elif plan.streamed:
            events = tape(asked.dialect, plan)
            cut = plan.cut_after is not None
            self._stream(events[: plan.cut_after] if cut else events, cut=cut, pause_s=plan.pause_s, held=plan.held)
        else:
            self._whole(json.dumps(whole_body(asked.dialect, plan)).encode(), status=200, headers={})

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def _refuse(self, plan: Refuse) -> None:
        error = {"type": plan.kind, "message": plan.message, "code": plan.code}
        self._whole(json.dumps({"type": "error", "error": error}).encode(), status=plan.status, headers=plan.headers)

    def _whole(self, body: bytes, *, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(
        self,
        chunks: tuple[bytes, ...],
        *,
        status: int = 200,
        content_type: str = "text/event-stream",
        cut: bool = False,
        pause_s: float = 0.0,
        held: threading.Event | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, chunk in enumerate(chunks):
            if held is not None and number == len(chunks) // 2:
                held.wait(_PATIENCE_S)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            if pause_s:
                time.sleep(pause_s)
        if cut:
            self._hang_up()
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def tape(dialect: str, plan: Say) -> tuple[bytes, ...]:
    """The events of a reply as a provider streams them."""
    return _anthropic_tape(plan) if dialect == "anthropic" else _openai_tape(plan)


def whole_body(dialect: str, plan: Say) -> dict[str, Any]:
    """The same reply in one JSON body."""
    calls = list(enumerate(plan.calls))
    if dialect == "anthropic":
        content: list[dict[str, Any]] = [{"type": "text", "text": plan.text}] if plan.text else []
        content += [{"type": "tool_use", "id": f"toolu_{n}", "name": c[0], "input": json.loads(c[1])} for n, c in calls]
        return _anthropic_message(content, _anthropic_finish(plan), _anthropic_usage(plan))
    message: dict[str, Any] = {"role": "assistant", "content": plan.text}
    if plan.calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": c[0], "arguments": c[1]}} for n, c in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": _openai_finish(plan)}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return body if plan.usage is None else {**body, "usage": _openai_usage(plan)}


def _openai_tape(plan: Say) -> tuple[bytes, ...]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in _pieces(plan.thinking, plan.pieces)]
    deltas += [{"content": piece} for piece in _pieces(plan.text, plan.pieces)]
    for number, (name, arguments) in enumerate(plan.calls):
        head = {
            "index": number,
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        deltas.append({"tool_calls": [head]})
        for piece in _pieces(arguments, plan.pieces):
            deltas.append({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": _openai_finish(plan)}])
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks: list[dict[str, Any]] = [{**chunk, "choices": choice} for choice in choices]
    if plan.usage is not None:
        chunks.append({**chunk, "choices": [], "usage": _openai_usage(plan)})
    return (*(b"data: " + _json(c) + b"\n\n" for c in chunks), b"data: [DONE]\n\n")


def _openai_finish(plan: Say) -> str:
    return plan.finish or ("tool_calls" if plan.calls else "stop")


def _openai_usage(plan: Say) -> dict[str, Any]:
    prompt, completion, cached = plan.usage or (0, 0, 0)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _anthropic_tape(plan: Say) -> tuple[bytes, ...]:
    usage = _anthropic_usage(plan)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": _anthropic_message([], None, {**usage, "output_tokens": 1})},
        {"type": "ping"},
    ]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if plan.thinking:
        pieces = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(plan.thinking, plan.pieces)]
        signed = {"type": "signature_delta", "signature": "c2ln"}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*pieces, signed]))
    if plan.text:
        pieces = [{"type": "text_delta", "text": piece} for piece in _pieces(plan.text, plan.pieces)]
        blocks.append(({"type": "text", "text": ""}, pieces))
    for number, (name, arguments) in enumerate(plan.calls):
        pieces = [
            {"type": "input_json_delta", "partial_json": piece} for piece in ["", *_pieces(arguments, plan.pieces)]
        ]
        blocks.append(({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}, pieces))
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": _anthropic_finish(plan), "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage.get("output_tokens", 0)}})
    events.append({"type": "message_stop"})
    return tuple(b"event: %b\ndata: %b\n\n" % (e["type"].encode(), _json(e)) for e in events)


def _anthropic_message(content: list[dict[str, Any]], stop: str | None, usage: dict[str, Any]) -> dict[str, Any]:
    fixed = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return {**fixed, "content": content, "stop_reason": stop, "usage": usage}


def _anthropic_finish(plan: Say) -> str:
    names = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
    return names[_openai_finish(plan)]


def _anthropic_usage(plan: Say) -> dict[str, Any]:
    prompt, completion, cached = plan.usage or (0, 0, 0)
    written = 3 if cached else 0
    return {
        "input_tokens": prompt - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": completion,
    }


def _json(value: object) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half an emoji
        return json.dumps(value).encode()


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


if __name__ == "__main__":
    provider = LoopbackProvider(int(sys.argv[1]) if len(sys.argv) > 1 else 0, default=Say(text="hello"))
    print(provider.url, flush=True)
    threading.Event().wait()
