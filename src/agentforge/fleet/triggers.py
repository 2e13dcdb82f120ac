"""Putting a request into the queue for whoever triggers it: a watched folder, or signed webhooks of issues, served here."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from agentforge.app.intake.sources import RequestSource, SourceClaim, issue_source, read_source
from agentforge.app.tasks.runs import create
from agentforge.app.tasks.start_options import StartOptions
from agentforge.config.settings import load
from agentforge.errors import AgentForgeError, UsageError
from agentforge.fleet.database import database_url, open_database
from agentforge.fleet.ledger import Ledger

_SUFFIXES = (".md", ".txt", ".json")
LARGEST = 1_000_000
"""Bytes of one delivery."""
_ACTIONS = ("opened", "labeled", "reopened")
_TIMEOUT_S = 10
_LEAST_SECRET = 16
Enqueue = Callable[[RequestSource], "str | None"]
Answer = tuple[int, dict[str, object]]


def enqueue_source(source: RequestSource, repo: Path, *, environ: Mapping[str, str]) -> str | None:
    """Put a source into the queue as a task of a repository.

    Returns:
        The task's id; None when it was put there before.
    Raises:
        AgentForgeError: no task was created.
    """

    def begin() -> str:
        settings = load(repo, environ)
        options = StartOptions(request=source.request, cwd=repo)
        with closing(open_database(database_url(settings, environ))) as database:
            made = create(options, settings=settings, environ=environ, watch=lambda _event, _state: None)
            Ledger(database).add(Path(made.state.identity.repo), made.state.identity.run_id)
        return made.state.identity.run_id

    return SourceClaim(source.id, str(repo), environ).run(begin)


class WatchedFolder:
    """A folder whose files are requests. A file counts when it was the same at two looks: it is written to its end.

    Args:
        tell: is given a line about every file.
    """

    def __init__(self, folder: Path, repo: Path, *, environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder", hint="make it first")
        self._folder = folder
        self._repo = repo
        self._environ = environ
        self._tell = tell
        self._seen: dict[Path, tuple[int, int]] = {}
        self._done: dict[Path, tuple[int, int]] = {}

    def look(self) -> int:
        """Start what is new.

        Returns:
            How many tasks were put into the queue.
        """
        started = 0
        for path in sorted(self._folder.iterdir()):
            if path.suffix not in _SUFFIXES or path.name.startswith(".") or not path.is_file():
                continue
            stat = path.stat()
            mark = (stat.st_mtime_ns, stat.st_size)
            if self._seen.get(path) == mark and self._done.get(path) != mark:
                self._done[path] = mark
                started += self._start(path)
            self._seen[path] = mark
        return started

    def _start(self, path: Path) -> int:
        try:
            task = enqueue_source(read_source(str(path), environ=self._environ), self._repo, environ=self._environ)
        except AgentForgeError as exc:
            self._tell(f"{path.name}: error[{exc.slug}]: {exc}")
            return 0
        self._tell(f"{path.name}: {task} is queued" if task else f"{path.name}: was started before")
        return 1 if task else 0


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
