"""Login to a server over HTTP by OAuth: the library's own provider, a browser of the user's, tokens in a file of theirs."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agentforge.errors import StorageError
from agentforge.tools.mcp.spec import ServerSpec

_WAIT_S = 180.0
_PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nLogged in. You can close this page.\n"

Show = Callable[[str], None]
"""Leads the user to an address: opens a browser, and prints the address."""


class LoginNeeded(Exception):
    """The server wants a login, and nobody asked for one now."""


class Tokens:
    """Tokens and the client's registration, one file for each server, readable by the user alone."""

    def __init__(self, file: Path) -> None:
        self._file = file

    async def get_tokens(self) -> Any:
        """The tokens, None when there are none."""
        from mcp.shared.auth import OAuthToken

        found = self._read().get("tokens")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: Any) -> None:
        """Keep tokens."""
        self._write({**self._read(), "tokens": tokens.model_dump(mode="json", exclude_none=True)})

    async def get_client_info(self) -> Any:
        """The registration, None when there is none."""
        from mcp.shared.auth import OAuthClientInformationFull

        found = self._read().get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: Any) -> None:
        """Keep a registration."""
        self._write({**self._read(), "client": client_info.model_dump(mode="json", exclude_none=True)})

    @property
    def known(self) -> bool:
        """Whether there was a login."""
        return bool(self._read().get("tokens"))

    def forget_client(self) -> None:
        """Register anew with the next login: the address that the user comes back to changes."""
        self._write({name: value for name, value in self._read().items() if name != "client"})

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_bytes())
        except (OSError, ValueError):  # no login yet, or a damaged file: the user logs in again
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, value: dict[str, Any]) -> None:
        fresh = self._file.with_name(f".{self._file.name}.{os.getpid()}")
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(value, file)
            fresh.replace(self._file)
        except OSError as exc:
            raise StorageError(f"{self._file} cannot be written: {exc.strerror}", hint="check the disk") from exc


class Login:
    """What the library's provider needs from us; `show` is None while nobody is asked to log in."""

    def __init__(self, spec: ServerSpec, tokens: Tokens, *, show: Show | None = None) -> None:
        self.tokens = tokens
        self._spec = spec
        self._show = show
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[dict[str, str]] | None = None

    @property
    def wanted(self) -> bool:
        """Whether tokens go with the requests: there was a login, or one is made now."""
        return self._show is not None or self.tokens.known

    async def provider(self) -> Any:
        """Make the provider; for a login it listens on a port of this machine for the way back."""
        from mcp.client.auth import OAuthClientProvider
        from mcp.shared.auth import OAuthClientMetadata

        back = "http://127.0.0.1/callback"
        if self._show is not None:
            self._answer = asyncio.get_running_loop().create_future()
            self._server = await asyncio.start_server(self._came_back, "127.0.0.1", 0)
            back = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/callback"
            self.tokens.forget_client()
        metadata = OAuthClientMetadata(
            client_name="AgentForge",
            redirect_uris=[back],  # type: ignore[list-item]
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="none",
        )
        return OAuthClientProvider(
            self._spec.url, metadata, self.tokens, redirect_handler=self._lead, callback_handler=self._wait
        )

    async def close(self) -> None:
        """Stop to listen."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _lead(self, url: str) -> None:
        if self._show is None:
            raise LoginNeeded(f"{self._spec.name} wants a login: /mcp login {self._spec.name}")
        self._show(url)

    async def _wait(self) -> Any:
        from mcp.shared.auth import AuthorizationCodeResult

        if self._answer is None:
            raise LoginNeeded(f"{self._spec.name} wants a login: /mcp login {self._spec.name}")
        given = await asyncio.wait_for(self._answer, _WAIT_S)
        if "code" not in given:
            raise LoginNeeded(f"the login was refused: {given.get('error', 'no code came back')}")
        return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))

    async def _came_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode("latin-1").split()
        parts = urlsplit(line[1] if len(line) > 1 else "")
        if parts.path == "/callback" and self._answer is not None and not self._answer.done():
            self._answer.set_result({name: values[0] for name, values in parse_qs(parts.query).items()})
        writer.write(_PAGE)
        await writer.drain()
        writer.close()
