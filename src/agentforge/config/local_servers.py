"""Model servers that run on this machine: where they listen, and which model the first one offers."""

from __future__ import annotations

import json

from agentforge.frozen import dataclass
from agentforge.models import LOCAL_PORTS

_CONNECT_S = 0.05
_READ_S = 2.0
_MAX_REPLY_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A server that speaks the OpenAI dialect on loopback."""

    provider: str
    port: int

    @property
    def base_url(self) -> str:
        """Where its API begins."""
        return f"http://127.0.0.1:{self.port}/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer:
    """A server that answered, and its first model."""

    provider: str
    base_url: str
    model: str


LOCAL_SERVERS = tuple(LocalServer(provider=provider, port=port) for provider, port in LOCAL_PORTS.items())


def running_server(servers: tuple[LocalServer, ...] = LOCAL_SERVERS) -> FoundServer | None:
    """Find the first server that listens and offers a model.

    Side effects: one connection per server, at most 50 ms each where nobody listens.
    """
    for server in servers:
        model = _first_model(server) if _listens(server.port) else ""
        if model:
            return FoundServer(provider=server.provider, base_url=server.base_url, model=model)
    return None


def _listens(port: int) -> bool:
    import socket  # only when no model is configured

    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def _first_model(server: LocalServer) -> str:
    """The id of the first model; "" when the answer is not that of a model server."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_READ_S)
    try:
        connection.request("GET", "/v1/models")
        value = json.loads(connection.getresponse().read(_MAX_REPLY_BYTES))
        return str(value["data"][0]["id"])
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return ""
    finally:
        connection.close()
