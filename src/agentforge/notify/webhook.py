"""A message as JSON to one address, signed with HMAC SHA-256 so that the receiver knows whom it is from."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentforge.canonical import canonical_bytes
from agentforge.errors import ToolchainError, UsageError

if TYPE_CHECKING:
    from agentforge.notify.message import NotifyMessage

_TIMEOUT_S = 10.0


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
