"""How a server is reached: read from settings and from `.mcp.json`, without starting anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from agentforge.canonical import digest_value
from agentforge.errors import ConfigError
from agentforge.frozen import dataclass

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL|COOKIE", re.IGNORECASE)
_DOWNLOADERS = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx", "docker", "podman"})
_STARTUP_S = 10.0
_CALL_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """One server.

    Attributes:
        command: program and arguments of a stdio server; empty for one over HTTP.
        url: of a server over HTTP; "" for stdio.
        cwd: where it starts, relative to the workspace; "" is the workspace.
        network: whether a stdio server reaches the network; None = as commands do.
        sandbox: whether a stdio server runs in the sandbox; only the user's own settings can switch it off.
        read: more paths that it may see; only the user's own settings can name some.
        write: more paths that it may change; the same.
        startup_s: how long it may take until it answers.
        call_s: how long one call may take.
        origin: where it is set, for people.
        project: set by the project, not by the user.
        unset: variables that its texts name and that have no value here.
    """

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    network: bool | None = None
    sandbox: bool = True
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    startup_s: float = _STARTUP_S
    call_s: float = _CALL_S
    origin: str = ""
    project: bool = False
    unset: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """What a person may look at when the server does not start; "" = nothing in particular."""
        told = [f"the variable {name} is not set" for name in self.unset]
        if self.command and Path(self.command[0]).name in _DOWNLOADERS and not self.network:
            told.append(
                f"{self.command[0]} downloads at its start, and this server has no network"
                + (": install the program itself" if self.project else ": set network = true")
            )
        return "; ".join(told)

    @property
    def digest(self) -> str:
        """What the server is, in one word: a changed command, address or environment is another server."""
        return digest_value([self.name, list(self.command), dict(self.env), self.cwd, self.url, dict(self.headers)])

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown: of its headers, and of variables whose name says so, when long enough to tell."""
        named = (value for name, value in self.env.items() if _SECRET.search(name))
        return tuple(sorted({value for value in (*named, *_words(self.headers)) if len(value) >= 8}))


def read_spec(
    name: str, table: Mapping[str, object], *, environ: Mapping[str, str], origin: str, project: bool
) -> ServerSpec:
    """Read one server; `${NAME}` and `${NAME:-default}` in its texts stand for variables of the environment.

    Raises:
        ConfigError: a name that no tool could carry, both or neither of command and url, a value of the wrong kind.
    """
    if not _NAME.fullmatch(name) or "__" in name:
        raise ConfigError(f"{origin}: MCP server {name!r}: a name has letters, digits, - and _", hint="rename it")
    command, url = _text(table, "command", environ), _text(table, "url", environ)
    if bool(command) == bool(url):
        raise ConfigError(f"{origin}: MCP server {name} needs exactly one of command and url", hint="correct it")
    if url and not url.startswith(("http://", "https://")):
        raise ConfigError(f"{origin}: MCP server {name}: {url!r} is not an http or https address", hint="correct it")
    if table.get("type") == "sse":
        raise ConfigError(
            f"{origin}: MCP server {name}: the transport `sse` was replaced by streamable HTTP",
            hint="take the server's address for streamable HTTP (often it ends with /mcp), and the type http",
        )
    network = table.get("network")
    return ServerSpec(
        name=name,
        command=(command, *_texts(table, "args", environ)) if command else (),
        env=_pairs(table, "env", environ),
        cwd=_text(table, "cwd", environ),
        url=url,
        headers=_pairs(table, "headers", environ),
        network=None if network is None else bool(network) and not project,
        sandbox=project or table.get("sandbox") is not False,
        read=() if project else _texts(table, "read", environ),
        write=() if project else _texts(table, "write", environ),
        startup_s=_seconds(table, "startup_timeout_sec", _STARTUP_S),
        call_s=_seconds(table, "call_timeout_sec", _CALL_S),
        origin=origin,
        project=project,
        unset=_unset(table, environ),
    )


def read_mcp_json(file: Path) -> Mapping[str, Mapping[str, object]]:
    """Read the servers of a `.mcp.json`; a missing file holds none.

    Raises:
        ConfigError: no JSON object of that shape.
    """
    try:
        value = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as exc:
        raise ConfigError(f"{file} cannot be read: {exc}", hint="correct it, or remove it") from exc
    servers = value.get("mcpServers") if isinstance(value, Mapping) else None
    if not isinstance(servers, Mapping) or not all(isinstance(one, Mapping) for one in servers.values()):
        raise ConfigError(f"{file} holds no object `mcpServers` of objects", hint="correct it, or remove it")
    return {str(name): one for name, one in servers.items()}


def _text(table: Mapping[str, object], key: str, environ: Mapping[str, str]) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ConfigError(f"MCP servers: {key} is not a text: {value!r}", hint="correct it")
    return _expanded(value, environ)


def _texts(table: Mapping[str, object], key: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise ConfigError(f"MCP servers: {key} is not a list of texts: {value!r}", hint="correct it")
    return tuple(_expanded(one, environ) for one in value)


def _pairs(table: Mapping[str, object], key: str, environ: Mapping[str, str]) -> dict[str, str]:
    value = table.get(key, {})
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in value.values()):
        raise ConfigError(f"MCP servers: {key} is not a table of texts", hint="correct it")
    return {str(name): _expanded(one, environ) for name, one in value.items()}


def _seconds(table: Mapping[str, object], key: str, default: float) -> float:
    value = table.get(key, default)
    return float(value) if isinstance(value, int | float) and 0 < value <= 3600 else default


def _expanded(text: str, environ: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: environ.get(found["name"]) or found["default"] or "", text)


def _unset(table: Mapping[str, object], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables without a value and without a default."""
    found = _VARIABLE.finditer(json.dumps(dict(table), ensure_ascii=False))
    return tuple(dict.fromkeys(one["name"] for one in found if one["default"] is None and not environ.get(one["name"])))


def _words(headers: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for value in headers.values() for word in value.split())
