"""Signed deliveries: what is signed wrongly, sent again or about something else starts nothing."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.intake.sources import RequestSource
from agentforge.errors import StorageError, UsageError
from agentforge.fleet.triggers import make_server, read_secret, receive

SECRET = b"0123456789abcdef"
ISSUE = {"action": "opened", "issue": {"title": "Add x", "body": "y", "html_url": "https://h/1", "labels": []}}


class Desk:
    """Counts what is put into the queue."""

    def __init__(self, tmp_path: Path) -> None:
        self.environ = {"AGENTFORGE_HOME": str(tmp_path / "af")}
        self.sources: list[RequestSource] = []
        self.broken = False

    def enqueue(self, source: RequestSource) -> str | None:
        if self.broken:
            raise StorageError("no room")
        if source in self.sources:
            return None
        self.sources.append(source)
        return f"task-{len(self.sources)}"

    def post(self, value: object, *, delivery: str = "d1", label: str = "", **headers: str) -> tuple[int, Any]:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        given = {
            "x-github-event": "issues",
            "x-github-delivery": delivery,
            "x-hub-signature-256": "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest(),
            **{name.replace("_", "-"): text for name, text in headers.items()},
        }
        return receive(given, body, secret=SECRET, label=label, enqueue=self.enqueue, environ=self.environ)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_an_opened_issue_becomes_a_task(desk: Desk) -> None:
    assert desk.post(ISSUE) == (201, {"task_id": "task-1"})
    assert desk.sources == [RequestSource(id="https://h/1", request="Add x\n\ny")]


def test_a_delivery_and_an_issue_count_once(desk: Desk) -> None:
    desk.post(ISSUE)
    assert desk.post(ISSUE)[0] == 200
    assert desk.post(ISSUE, delivery="d2")[0] == 200
    assert len(desk.sources) == 1


def test_a_delivery_that_could_not_be_taken_may_come_again(desk: Desk) -> None:
    desk.broken = True
    with pytest.raises(StorageError):
        desk.post(ISSUE)
    desk.broken = False
    assert desk.post(ISSUE)[0] == 201


@pytest.mark.parametrize("signature", ["", "sha256=", "sha256=" + "0" * 64, "sha1=abc", "sha256=\u00e4"])
def test_a_wrong_signature_is_refused_before_anything_is_read(desk: Desk, signature: str) -> None:
    assert desk.post(ISSUE, x_hub_signature_256=signature)[0] == 401
    assert desk.sources == []


@pytest.mark.parametrize(
    "value",
    [b"{", b"[]", b'{"action": "opened"}', {**ISSUE, "action": "closed"}, {"action": "opened", "issue": {"title": 3}}],
)
def test_what_is_no_opened_issue_starts_nothing(desk: Desk, value: object) -> None:
    assert desk.post(value)[0] == 202
    assert desk.sources == []


def test_other_events_and_labels_start_nothing(desk: Desk) -> None:
    assert desk.post(ISSUE, x_github_event="push")[0] == 202
    assert desk.post(ISSUE, label="agentforge")[0] == 202
    assert desk.post(ISSUE, x_github_event="ping")[0] == 200
    assert desk.post(ISSUE, delivery="")[0] == 400
    assert desk.sources == []


def test_the_server_takes_a_delivery_and_refuses_what_is_too_long(desk: Desk) -> None:
    told: list[str] = []
    server = make_server(
        "127.0.0.1", 0, secret=SECRET, label="", enqueue=desk.enqueue, environ=desk.environ, tell=told.append
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        body = json.dumps(ISSUE).encode()
        signature = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        headers = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": "d1", "X-Hub-Signature-256": signature}
        assert _post(server.server_address[1], body, headers) == 201
        assert _post(server.server_address[1], b"", {"Content-Length": "2000000"}) == 413
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert len(told) == 2


def test_a_secret_is_long_and_private(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_bytes(SECRET + b"\n")
    with pytest.raises(UsageError, match="others"):
        read_secret(file)
    file.chmod(0o600)
    assert read_secret(file) == SECRET
    file.write_bytes(b"short")
    with pytest.raises(UsageError, match="5 bytes"):
        read_secret(file)


def _post(port: int, body: bytes, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/", body=body, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status
