"""Signed links that answer one escalation: made here, served by the dashboard on loopback; they expire and work once."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

from agentforge.canonical import canonical_bytes
from agentforge.errors import ConflictError, UsageError
from agentforge.frozen import dataclass

_KEY_BYTES = 32
_LONGEST = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a link allows: to answer one escalation, once, until it expires.

    Attributes:
        address: `TASK.E1`.
        repo: folder of the repository that the task belongs to.
        expires: seconds since the epoch.
        nonce: of this link alone.
    """

    address: str
    repo: str
    expires: int
    nonce: str


def link_key(folder: Path) -> bytes:
    """The key that signs links, made when there is none.

    Side effects: a file that its owner alone can read.
    """
    path = folder / "links.key"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        if len(key := path.read_bytes()) == _KEY_BYTES:
            return key
        path.unlink(missing_ok=True)  # of a process that died while it wrote: nobody may sign with what everybody knows
    made = folder / f"links.{secrets.token_hex(8)}.new"
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(_KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):  # another process was faster: its key is the key
        os.link(made, path)
    made.unlink()
    return path.read_bytes()


def sign(key: bytes, *, address: str, repo: str, expires: int) -> str:
    """Make the token of a link.

    Args:
        expires: seconds since the epoch.
    """
    value = {"address": address, "repo": repo, "expires": expires, "nonce": secrets.token_hex(16)}
    payload = base64.urlsafe_b64encode(canonical_bytes(value)).rstrip(b"=").decode("ascii")
    return f"{payload}.{_mac(key, payload)}"


def verify(key: bytes, token: str, *, now: int) -> Grant:
    """Read a token.

    Args:
        now: seconds since the epoch.
    Raises:
        UsageError: it was not made with this key, was changed, or has expired.
    """
    payload, _, mac = token[:_LONGEST].partition(".")
    if not hmac.compare_digest(mac.encode(), _mac(key, payload).encode()):
        raise UsageError("this link was not made here, or was changed", hint="use the command of the message")
    value = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    grant = Grant(**value)
    if now >= grant.expires:
        raise UsageError("this link has expired", hint="use the command of the message")
    return grant


def spend(folder: Path, grant: Grant) -> None:
    """Use up a link, before its answer is recorded.

    Raises:
        ConflictError: it was used already.
    Side effects: an empty file named after the link.
    """
    used = folder / "used-links"
    used.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(used / grant.nonce, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError as exc:
        raise ConflictError(f"the link for {grant.address} was used already") from exc


def is_spent(folder: Path, grant: Grant) -> bool:
    """Whether a link was used already."""
    return (folder / "used-links" / grant.nonce).exists()


def answer_url(base: str, token: str) -> str:
    """The address of the page that answers."""
    return f"{base.rstrip('/')}/answer?token={token}"


def _mac(key: bytes, payload: str) -> str:
    return hmac.new(key, payload.encode(), hashlib.sha256).hexdigest()
