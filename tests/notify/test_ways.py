"""The ways to people, each against what is really there: a server on loopback, a program, apprise itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import ToolchainError, UsageError
from agentforge.notify.notifier import NotifyMessage, Webhook, digest_of, notifiers, signature
from tests.support.loopback.inbox import Inbox

_MESSAGE = NotifyMessage(
    message_id="task-1.E1.first.1",
    task_id="task-1",
    about="E1",
    notice="first",
    title="AgentForge: task-1 asks (question)",
    text="Which name?",
    commands=('agentforge resolve task-1.E1 --answer "TEXT" --resume',),
)


def test_a_webhook_is_signed_over_time_and_body(inbox: Inbox) -> None:
    Webhook(f"{inbox.url}/hook?a=b", secret="s3cret", variable="HOOK", clock=lambda: 1700000000.5).send(_MESSAGE)
    ((path, headers, body),) = inbox.got
    assert path == "/hook?a=b"
    assert headers["x-agentforge-timestamp"] == "1700000000"
    assert headers["x-agentforge-signature"] == signature("s3cret", timestamp="1700000000", body=body)
    assert headers["x-agentforge-signature"] != signature("other", timestamp="1700000000", body=body)
    assert json.loads(body)["commands"] == list(_MESSAGE.commands)
    assert headers["x-agentforge-id"] == _MESSAGE.message_id


@pytest.mark.parametrize("status", [302, 400, 500])
def test_a_webhook_that_refuses_or_sends_elsewhere_fails(inbox: Inbox, status: int) -> None:
    inbox.status = status
    with pytest.raises(ToolchainError, match=str(status)):
        Webhook(inbox.url, secret="", variable="").send(_MESSAGE)
    assert len(inbox.got) == 1


def test_a_webhook_without_its_secret_or_its_server_fails() -> None:
    with pytest.raises(UsageError, match="HOOK is not set"):
        Webhook("http://127.0.0.1:9/", secret="", variable="HOOK").send(_MESSAGE)
    with pytest.raises(ToolchainError, match="does not answer"):
        Webhook("http://127.0.0.1:1/?token=hidden", secret="", variable="").send(_MESSAGE)


def test_a_webhook_that_is_no_address_is_named() -> None:
    for address in ("http://[::1/hook", "http://h:port/", "http://" + "x" * 300 + "/", "http://a..b/"):
        with pytest.raises((UsageError, ToolchainError), match="webhook"):
            Webhook(address, secret="", variable="").send(_MESSAGE)


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")  # a plugin of apprise imports it
def test_apprise_reaches_a_service_and_its_address_shows_nowhere(
    inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    address = inbox.url.replace("http://", "json://ann:pa55word@")
    (way,) = notifiers({"urls": [address]}, {})
    way.send(_MESSAGE)
    ((_, headers, body),) = inbox.got
    assert headers["authorization"].startswith("Basic ")
    assert json.loads(body)["title"] == _MESSAGE.title
    assert "resolve task-1.E1" in json.loads(body)["message"]
    inbox.status = 500
    with pytest.raises(ToolchainError) as raised:
        way.send(_MESSAGE)
    assert "pa55word" not in f"{raised.value}{way.channel}"
    assert way.channel == "apprise:json#1"
    (unknown,) = notifiers({"urls": ["nothing://x"]}, {})
    with pytest.raises(UsageError, match="apprise knows no"):
        unknown.send(_MESSAGE)


def test_a_program_reads_the_message(tmp_path: Path) -> None:
    kept = tmp_path / "message.json"
    (way,) = notifiers({"command": ["sh", "-c", f"cat > {kept}"]}, {"PATH": "/usr/bin:/bin"})
    way.send(_MESSAGE)
    value = json.loads(kept.read_bytes())
    assert value["about"] == "E1" and "Answer with:" in value["body"]
    (broken,) = notifiers({"command": ["sh", "-c", "echo no; exit 3"]}, {"PATH": "/usr/bin:/bin"})
    with pytest.raises(ToolchainError, match=r"failed \(3\): no"):
        broken.send(_MESSAGE)
    (missing,) = notifiers({"command": ["/nowhere/program"]}, {})
    with pytest.raises(ToolchainError):
        missing.send(_MESSAGE)


def test_the_desktop_gets_title_and_body(tmp_path: Path) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/said\n')
    program.chmod(0o755)
    (way,) = notifiers({"desktop": True}, {"PATH": f"{tmp_path}:/usr/bin:/bin", "API_KEY": "hidden"})
    way.send(_MESSAGE)
    said = (tmp_path / "said").read_text()
    assert "--urgency=critical" in said and _MESSAGE.title in said and "resolve task-1.E1" in said
    (absent,) = notifiers({"desktop": True}, {"PATH": "/nowhere"})
    with pytest.raises(ToolchainError):
        absent.send(_MESSAGE)


def test_a_digest_holds_every_message_and_one_alone_stays_itself() -> None:
    assert digest_of([_MESSAGE]) is _MESSAGE
    again = replace(_MESSAGE, notice="reminder")
    assert digest_of([again, again]).notice == "reminder"
    assert digest_of([again, _MESSAGE]).notice == "first"
    both = digest_of([_MESSAGE, _MESSAGE])
    assert both.title == "AgentForge: 2 matters"
    assert both.text.count("Which name?") == 2 and both.text.count("Answer with:") == 2
