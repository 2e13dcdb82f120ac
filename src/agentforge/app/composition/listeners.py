"""A socket of this machine and the token that opens it: for every face that is served over HTTP."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import stat
from pathlib import Path

from agentforge.errors import UsageError

_PRIVATE = stat.S_IRWXG | stat.S_IRWXO


def listening(host: str, port: int) -> socket.socket:
    """Open a socket that takes connections.

    Args:
        port: 0 = any free one.
    Raises:
        UsageError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # before the address is told: whoever follows it at once must not be refused
    except (OSError, OverflowError) as exc:
        listener.close()
        told = exc.strerror if isinstance(exc, OSError) else exc
        raise UsageError(f"{host}:{port} cannot be used: {told}", hint="take another --port") from exc
    return listener


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def authority(host: str, port: int) -> str:
    """Host and port as they stand in an address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def token_of(path: Path | None) -> str:
    """The token of the file, which is made when it is missing; without a file a new one.

    Raises:
        UsageError: the file cannot be used, or others can read it.
    """
    if path is None:
        return secrets.token_urlsafe(32)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _kept_token(path)
    except OSError as exc:
        raise UsageError(f"{path} cannot be written: {exc.strerror}", hint="name another --token-file") from exc
    token = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{token}\n")
    return token


def _kept_token(path: Path) -> str:
    try:
        if path.stat().st_mode & _PRIVATE:
            raise UsageError(f"others can read {path}", hint=f"chmod 600 {path}")
        token = path.read_text("ascii").strip()
    except (OSError, ValueError) as exc:
        raise UsageError(f"{path} cannot be read: {exc}", hint="name another --token-file") from exc
    if len(token) < 20 or not token.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"{path} contains no token", hint="remove it, and AgentForge makes a new one")
    return token
