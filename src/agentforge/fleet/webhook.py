"""A small server that turns signed webhooks of issues into tasks: HMAC over the body, each delivery once, loopback by default."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from agentforge.app.intake.sources import RequestSource, SourceClaim, issue_source
from agentforge.errors import AgentForgeError, UsageError

LARGEST = 1_000_000
"""Bytes of one delivery."""

_ACTIONS = ("opened", "labeled", "reopened")
_TIMEOUT_S = 10
_LEAST_SECRET = 16

Enqueue = Callable[[RequestSource], "str | None"]
Answer = tuple[int, dict[str, object]]


def read_secret(path: Path) -> bytes:
    """Read the secret that signs webhooks.

    Raises:
        UsageError: the file cannot be read, others may read it, or it is too short to be a secret.
    """
    try:
        data = path.read_bytes().strip()
        mode = path.stat().st_mode
    except OSError as exc:
        raise UsageError(f"{path} cannot be read: {exc.strerror}", hint="openssl rand -hex 32 > FILE") from exc
    if mode & 0o077:
        raise UsageError(f"{path} can be read by others", hint=f"chmod 600 {path}")
    if len(data) < _LEAST_SECRET:
        raise UsageError(f"{path} holds {len(data)} bytes", hint="openssl rand -hex 32 > FILE")
    return data


def receive(
    headers: Mapping[str, str], body: bytes, *, secret: bytes, label: str, enqueue: Enqueue, environ: Mapping[str, str]
) -> Answer:
    """Judge one delivery and put its issue into the queue.

    The signature is checked before anything in the body is looked at. A delivery counts once by its id, an issue once by its
    address: what is sent again changes nothing.

    Args:
        headers: by lower-case name.
        label: only issues with this label count, "" = all.
    Returns:
        The HTTP status and the JSON object of the answer.
    """
    given = headers.get("x-hub-signature-256", "")
    wanted = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
        return 401, {"error": "the signature is wrong"}
    delivery = headers.get("x-github-delivery", "")
    if not delivery:
        return 400, {"error": "X-GitHub-Delivery is missing"}
    if headers.get("x-github-event") == "ping":
        return 200, {"ok": "pong"}
    source = _source_of(headers, body, label=label)
    if isinstance(source, str):
        return 202, {"ignored": source}
    tasks: list[str | None] = []

    def begin() -> str:
        tasks.append(enqueue(source))
        return tasks[0] or "known"

    if SourceClaim(f"delivery:{delivery}", "webhook", environ).run(begin) is None:
        return 200, {"ignored": "this delivery was received before"}
    return (201, {"task_id": tasks[0]}) if tasks[0] else (200, {"ignored": "this issue was started before"})


def _source_of(headers: Mapping[str, str], body: bytes, *, label: str) -> RequestSource | str:
    """The issue of a delivery, or why it starts nothing."""
    if headers.get("x-github-event") != "issues":
        return f"event {headers.get('x-github-event', '')!r}"
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "the body is not JSON"
    issue = value.get("issue") if isinstance(value, dict) else None
    if not isinstance(issue, dict):
        return "no issue in it"
    if value.get("action") not in _ACTIONS:
        return f"action {value.get('action')!r}"
    labels = issue.get("labels")
    names = [item.get("name") for item in labels if isinstance(item, dict)] if isinstance(labels, list) else []
    if label and label not in names:
        return f"the issue has no label {label}"
    try:
        source = issue_source(issue)
    except UsageError as exc:
        return exc.message
    return source if source.id else "the issue has no address"


def make_server(
    host: str,
    port: int,
    *,
    secret: bytes,
    label: str,
    enqueue: Enqueue,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> ThreadingHTTPServer:
    """A server that is bound and not yet serving; port 0 takes a free one.

    Raises:
        UsageError: the address cannot be bound.
    """

    class Door(BaseHTTPRequestHandler):
        """Takes POST and nothing else."""

        timeout = _TIMEOUT_S
        server_version = "agentforge"
        sys_version = ""

        def do_POST(self) -> None:
            """Take one delivery."""
            status, answer = self._judged()
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(data)
            tell(f"{status} {json.dumps(answer)}")

        def _judged(self) -> Answer:
            length = self.headers.get("Content-Length", "")
            if not length.isascii() or not length.isdigit() or int(length) > LARGEST:
                return 413, {"error": f"a body of at most {LARGEST} bytes with its length is wanted"}
            headers = {name.lower(): text for name, text in self.headers.items()}
            try:
                body = self.rfile.read(int(length))
                return receive(headers, body, secret=secret, label=label, enqueue=enqueue, environ=environ)
            except AgentForgeError as exc:
                tell(f"error[{exc.slug}]: {exc}")
                return 503, {"error": exc.slug}

        def log_message(self, *_arguments: object) -> None:
            """Every delivery is told once, by `do_POST`."""

    try:
        return ThreadingHTTPServer((host, port), Door)
    except OSError as exc:
        raise UsageError(f"{host}:{port} cannot be bound: {exc.strerror}", hint="pass another --port") from exc
