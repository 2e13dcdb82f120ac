"""Whether the MCP servers of a folder work: each is started and asked what it offers, without a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import cast

from agentforge.app.sessions.chat import ChatOptions
from agentforge.app.sessions.person import Nobody
from agentforge.app.sessions.services import Workshop
from agentforge.app.tools.folder_tools import looked_into
from agentforge.app.tools.server_settings import Named, named_servers
from agentforge.config.settings import load
from agentforge.errors import ToolchainError, UsageError
from agentforge.frozen import dataclass
from agentforge.tools.base import ToolError
from agentforge.tools.mcp.servers import Servers

_HIDDEN = "***"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One server.

    Attributes:
        state: ready | failed | refused (may not be started; `reason` says why) | unknown (nobody looked).
        where: its command or address as it is written down.
        table: what is written down; values of variables and headers are hidden, unless they only name a variable.
        tools, resources, prompts: names of what it offers.
        changed: tools that describe themselves differently than when the user agreed to them.
    """

    name: str
    scope: str
    origin: str
    where: str
    state: str = "unknown"
    reason: str = ""
    table: Mapping[str, object] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def value(self) -> dict[str, object]:
        """The server as plain data."""
        return {
            **{"name": self.name, "scope": self.scope, "origin": self.origin, "where": self.where},
            **{"state": self.state, "reason": self.reason, "settings": dict(self.table)},
            **{"tools": list(self.tools), "resources": list(self.resources), "prompts": list(self.prompts)},
            "changed": list(self.changed),
        }


def check_servers(
    folder: Path, environ: Mapping[str, str], *, only: str = "", starts: bool = True
) -> tuple[tuple[Checked, ...], dict[str, str]]:
    """Look at the servers that a session in a folder would have.

    Args:
        only: the name of one; "" = all.
        starts: start them and ask what they offer.
    Returns:
        The servers, and files that could not be read, with the reason.
    Raises:
        UsageError: no server is called `only`.
    """
    folder = folder.resolve()
    named, broken = named_servers(folder, settings=load(folder, environ), environ=environ)
    if only and only not in named:
        raise UsageError(f"there is no MCP server {only!r}", hint=f"there are: {', '.join(sorted(named)) or 'none'}")
    wanted = {name: one for name, one in named.items() if only in ("", name)}
    if not wanted:
        return (), broken
    with looked_into(ChatOptions(cwd=folder), environ, person=Nobody()) as workshop:
        return tuple(_checked(workshop, wanted, starts=starts)), broken


def log_in(name: str, folder: Path, environ: Mapping[str, str], *, show: Callable[[str], None]) -> None:
    """Log in to a server over HTTP by its own page.

    Args:
        show: gets the words that lead the person there.
    Raises:
        UsageError: no server that may be started is called so.
        ToolchainError: it wants no login, cannot be reached, or refused.
    """
    with looked_into(ChatOptions(cwd=folder.resolve()), environ, person=Nobody(delta=show)) as workshop:
        servers = workshop.shed.servers
        if servers is None or name not in {one.name for one in servers.statuses()}:
            why = workshop.shed.refused.get(name, f"there is no MCP server {name!r}")
            raise UsageError(why, hint="agentforge mcp list")
        try:
            servers.login(name)
        except ToolError as error:
            raise ToolchainError(
                f"{name}: the login failed: {error.observation.text or error.observation.summary}",
                hint=f"agentforge mcp get {name} says whether it can be reached",
            ) from error


def _checked(workshop: Workshop, named: Mapping[str, Named], *, starts: bool) -> list[Checked]:
    servers = workshop.shed.servers
    known = {one.name: one for one in servers.statuses()} if servers is not None else {}
    if starts and servers is not None:
        servers.connect([name for name in named if name in known])
        known = {one.name: one for one in servers.statuses()}
    found = []
    for name, one in named.items():
        status, row = known.get(name), _row(name, one)
        if status is None or servers is None:
            found.append(replace(row, state="refused", reason=workshop.shed.refused.get(name, "")))
        elif not starts:
            found.append(replace(row, tools=status.tools))
        else:
            more = _offered(servers, name) if status.state == "ready" else {}
            found.append(
                replace(
                    row,
                    state=status.state,
                    reason=status.reason,
                    tools=status.tools,
                    changed=status.changed,
                    resources=tuple(more.get("resources", ())),
                    prompts=tuple(more.get("prompts", ())),
                )
            )
    return found


def _offered(servers: Servers, name: str) -> dict[str, list[str]]:
    try:
        return servers.listing(name)
    except ToolError:  # it says that it has some, and does not list them
        return {}


def _row(name: str, one: Named) -> Checked:
    table = one.table
    arguments = cast("list[object]", table.get("args", []))
    where = str(table.get("url") or " ".join(map(str, (table.get("command", ""), *arguments))))
    hidden = {key: _without_values(value) if key in ("env", "headers") else value for key, value in table.items()}
    return Checked(name=name, scope=one.scope, origin=one.origin, where=where, table=hidden)


def _without_values(pairs: object) -> object:
    """Variables and headers by name; a value that only names a variable is none that has to be hidden."""
    if not isinstance(pairs, Mapping):
        return pairs
    return {name: value if "${" in str(value) else _HIDDEN for name, value in pairs.items()}
