"""Messages to people, and the ways to them, made from the `[notify]` settings.

A message says what happened, what is asked, and the exact command or link that answers it.

A message to a program of the user's own: JSON on its standard input.

A message to one of the services that apprise knows; one address, one way, so that one that fails repeats no other.

A message as JSON to one address, signed with HMAC SHA-256 so that the receiver knows whom it is from.

A message on the user's own screen, by notify-send.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Protocol, cast
from urllib.parse import urlsplit

from agentforge.canonical import canonical_bytes
from agentforge.errors import ToolchainError, UsageError
from agentforge.frozen import dataclass
from agentforge.installation import command_for
from agentforge.workspace.processes.process import run


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyMessage:
    """What a notifier sends.

    Attributes:
        message_id: the same for the same matter, so that a receiver can tell a repetition.
        task_id: "" in a digest of several tasks.
        about: "E1", "delivered", "failed", "test" or "digest".
        notice: "first", "reminder" or "deadline".
        text: everything below the title, lines for people.
        commands: that answer it, the first is the most likely.
        link: that answers it, "" = none.
    """

    message_id: str
    task_id: str
    about: str
    notice: str
    title: str
    text: str
    commands: tuple[str, ...] = ()
    link: str = ""

    @property
    def body(self) -> str:
        """All of it but the title, for a way that knows only text."""
        ways = ["Answer with:", *(f"  {command}" for command in self.commands)] if self.commands else []
        return "\n".join([self.text, *ways, *([f"or here: {self.link}"] if self.link else [])])


def digest_of(messages: list[NotifyMessage]) -> NotifyMessage:
    """Several messages as one; a single one stays as it is."""
    if len(messages) == 1:
        return messages[0]
    parts = [f"{item.title}\n{item.body}" for item in messages]
    again = all(item.notice == "reminder" for item in messages)
    return NotifyMessage(
        message_id="+".join(item.message_id for item in messages),
        task_id="",
        about="digest",
        notice="reminder" if again else "first",
        title=f"AgentForge: {'again: ' if again else ''}{len(messages)} matters",
        text="\n\n".join(parts),
    )


class Notifier(Protocol):
    """One way to people."""

    @property
    def channel(self) -> str:
        """Its name in records; holds no address and no secret."""

    def send(self, message: NotifyMessage) -> None:
        """Send a message.

        Raises:
            ToolchainError, UsageError: it was not taken; the words hold no secret of the settings.
        """


def notifiers(table: Mapping[str, object], environ: Mapping[str, str]) -> list[Notifier]:
    """Make every way that the settings name; none is opened yet."""
    found: list[Notifier] = []
    if table.get("webhook"):
        variable = str(table.get("webhook_secret", ""))
        found.append(Webhook(str(table["webhook"]), secret=environ.get(variable, ""), variable=variable))
    if table.get("desktop"):
        found.append(Desktop(environ))
    if table.get("command"):
        found.append(CommandChannel(tuple(cast("list[str]", table["command"])), environ))
    for number, url in enumerate(cast("list[str]", table.get("urls", [])), start=1):
        found.append(Service(url, number=number))
    return found


_TIMEOUT_S = 10.0


class CommandChannel:
    """Runs the user's program for every message."""

    channel = "command"

    def __init__(self, argv: tuple[str, ...], environ: Mapping[str, str]) -> None:
        self._argv = argv
        self._environ = environ

    def send(self, message: NotifyMessage) -> None:
        """Run the program; what it prints is shown only when it fails.

        Raises:
            ToolchainError: it is missing, fails, or takes longer than 10 s.
        """
        value = canonical_bytes({**asdict(message), "body": message.body}) + b"\n"
        done = run(self._argv, cwd=None, env=self._environ, timeout_s=_TIMEOUT_S, stdin=value)
        if done.exit_code != 0:
            raise ToolchainError(f"{self._argv[0]} failed ({done.exit_code}): {done.text.strip()[:200]}")


class Service:
    """One address of apprise; it may hold a password and is shown nowhere."""

    def __init__(self, url: str, *, number: int) -> None:
        self._url = url
        self._channel = f"apprise:{url.partition(':')[0][:20]}#{number}"

    @property
    def channel(self) -> str:
        """The kind of service and its place in the settings."""
        return self._channel

    def send(self, message: NotifyMessage) -> None:
        """Send a message.

        Raises:
            UsageError: apprise does not know such an address.
            ToolchainError: apprise is not installed, or the service did not take it.
        """
        try:
            import apprise
        except ImportError as exc:
            hint = command_for("notify")
            raise ToolchainError("apprise is not installed", hint=hint) from exc
        logging.getLogger("apprise").addHandler(logging.NullHandler())  # it would print addresses
        service = apprise.Apprise(asset=apprise.AppriseAsset(async_mode=False))
        if not service.add(self._url):
            raise UsageError(f"apprise knows no address such as {self._channel}", hint="correct notify.urls")
        if not service.notify(title=message.title, body=message.body, body_format=apprise.NotifyFormat.TEXT):
            raise ToolchainError(f"{self._channel} did not take the message", hint="try: agentforge notify --test")


def signature(secret: str, *, timestamp: str, body: bytes) -> str:
    """What stands in `X-AgentForge-Signature`: `sha256=` and the HMAC of "TIMESTAMP.BODY"."""
    signed = timestamp.encode("ascii") + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class Webhook:
    """Posts messages.

    Args:
        secret: of the HMAC; "" = not signed, which is an error when `variable` names where it should be.
        clock: seconds since the epoch.
    """

    channel = "webhook"

    def __init__(self, url: str, *, secret: str, variable: str, clock: Callable[[], float] = time.time) -> None:
        self._url = url
        self._secret = secret
        self._variable = variable
        self._clock = clock

    def send(self, message: NotifyMessage) -> None:
        """Post a message; a redirection is not followed.

        Raises:
            UsageError: the secret is not set.
            ToolchainError: no connection, or any answer but 2xx.
        """
        if self._variable and not self._secret:
            raise UsageError(f"the variable {self._variable} is not set", hint="it holds the secret of notify.webhook")
        timestamp = str(int(self._clock()))
        body = canonical_bytes(_value(message))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "agentforge",
            "X-AgentForge-Id": message.message_id[:200],
            "X-AgentForge-Timestamp": timestamp,
        }
        if self._secret:
            headers["X-AgentForge-Signature"] = signature(self._secret, timestamp=timestamp, body=body)
        status = self._post(body, headers)
        if not 200 <= status < 300:
            raise ToolchainError(f"the webhook answered {status}", hint="look at its own log")

    def _post(self, body: bytes, headers: dict[str, str]) -> int:
        try:
            parts = urlsplit(self._url)
            port = parts.port
        except ValueError as exc:
            raise UsageError("notify.webhook is not an address", hint="correct it in your settings") from exc
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", port, timeout=_TIMEOUT_S)
        try:
            connection.request("POST", f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}", body, headers)
            return connection.getresponse().status
        except (OSError, UnicodeError, http.client.HTTPException) as exc:
            raise ToolchainError(
                f"the webhook does not answer: {type(exc).__name__}", hint="check notify.webhook"
            ) from exc
        finally:
            connection.close()


def _value(message: NotifyMessage) -> dict[str, object]:
    return {
        "id": message.message_id,
        "task_id": message.task_id,
        "about": message.about,
        "notice": message.notice,
        "title": message.title,
        "text": message.text,
        "commands": list(message.commands),
        "link": message.link,
    }


_DESKTOP_TIMEOUT_S = 5.0
_SEEN = ("PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


class Desktop:
    """Shows messages; a question stays until it is closed."""

    channel = "desktop"

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {name: environ[name] for name in _SEEN if name in environ}

    def send(self, message: NotifyMessage) -> None:
        """Show a message.

        Raises:
            ToolchainError: notify-send is missing, or there is no desktop.
        """
        urgency = "critical" if message.commands else "normal"
        argv = ["notify-send", "--app-name=AgentForge", f"--urgency={urgency}", "--", message.title, message.body]
        done = run(argv, cwd=None, env=self._environ, timeout_s=_DESKTOP_TIMEOUT_S)
        if done.exit_code != 0:
            raise ToolchainError(f"notify-send failed ({done.exit_code}): {done.text.strip()[:200]}")
