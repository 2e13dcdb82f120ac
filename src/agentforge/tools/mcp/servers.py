"""All servers of a session: what they offer as tools, where each of them stands, and what the user agreed to."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from agentforge.cancellation import interruptible
from agentforge.frozen import dataclass
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.tools.mcp.connection import Connection, Opened, ServerFailed
from agentforge.tools.mcp.definitions import Definition, Pinned, Pins, Prompt, observed, offered_names, read_out
from agentforge.tools.mcp.spec import ServerSpec

_T = TypeVar("_T")


class Loop:
    """The thread is started with the first piece of work, and ended by `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Wait for a piece of work.

        Raises:
            KeyboardInterrupt: the user stopped it; the work is cancelled.
        """
        future = self.begin(work)
        try:
            with interruptible(lambda: _cancel(future)):
                return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def begin(self, work: Coroutine[Any, Any, _T]) -> concurrent.futures.Future[_T]:
        """Start a piece of work and go on."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def close(self) -> None:
        """End the thread; work that is under way is cancelled."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="tool servers", daemon=True)
                self._thread.start()
            return self._loop


def _cancel(future: concurrent.futures.Future[Any]) -> None:
    future.cancel()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


LOGIN_S = 200.0
"""How long a person may take to log in, in seconds."""
Agree = Callable[[str, str], bool]
"""Asks the person about a changed definition: (server, the change in words) -> agreed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where a server stands.

    Attributes:
        state: idle (not needed yet) | starting | ready | failed | refused (not loaded at all).
        reason: why it failed or was refused.
        tools: names of its tools as they are offered.
        changed: tools whose definition is not the one that the user agreed to.
    """

    name: str
    state: str
    where: str
    reason: str = ""
    tools: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class Servers:
    """The servers of a session; nothing is started before it is needed. Safe to be used by several subagents at once."""

    def __init__(
        self,
        specs: Iterable[ServerSpec],
        *,
        open_transport: Callable[[ServerSpec], Opened],
        open_login: Callable[[ServerSpec], Opened] | None = None,
        pins: Pins,
        agree: Agree = lambda _server, _change: False,
    ) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._open = open_transport
        self._open_login = open_login or open_transport
        self._pins = pins
        self._agree = agree
        self._loop = Loop()
        self._making = Lock()
        self._asking = Lock()
        self._connections: dict[str, Connection] = {}
        self._pinned = {name: pins.load(spec.digest) for name, spec in self._specs.items()}
        self._tried = False

    def warm(self) -> None:
        """Start in the background what was never seen before; the others start with the first call."""
        for name, pinned in self._pinned.items():
            if pinned is None:
                self._loop.begin(self._met(name))

    def tools(self) -> dict[str, Tool]:
        """The tools of all servers by their offered names.

        A server that was never seen before is asked first, each no longer than its own limit and all at the same time.
        """
        unknown = [name for name, pinned in self._pinned.items() if pinned is None]
        if unknown and not self._tried:
            self._tried = True
            self._loop.run(self._meet(unknown))
        found: dict[str, Tool] = {}
        for name in self._specs:
            for offered, definition in self._offered(name).items():
                found[offered] = self._tool(offered, name, definition)
        if any(pinned is not None and pinned.resources for pinned in self._pinned.values()):
            found["mcp_read_resource"] = self._reader()
        return found

    def call(self, server: str, tool: str, arguments: Mapping[str, object]) -> Observation:
        """Call a tool of a server.

        Raises:
            ToolError: it cannot be reached, does not answer, or changed what it offers and nobody agreed.
        """
        self._connected(server)
        self._refuse_changed(server, tool)
        connection = self._connection(server)
        result = self._run(server, connection.call(tool, arguments))
        return self._shown(server, observed(f"{server} {tool}", result))

    def read(self, server: str, uri: str) -> Observation:
        """Read a resource of a server; errors as those of `call`."""
        if server not in self._specs:
            known = ", ".join(self._specs) or "none"
            raise ToolError(failed(f"there is no server {server!r}; servers: {known}", error_type="not-found"))
        return self._shown(server, read_out(uri, self._run(server, self._connection(server).read(uri))))

    def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        """Fill in a prompt of a server; errors as those of `call`."""
        connection = self._connection(server)
        return connection.scrub(self._run(server, connection.prompt(name, arguments)))

    def listing(self, server: str) -> dict[str, list[str]]:
        """Name the resources and prompts of a server; errors as those of `call`."""
        return self._run(server, self._connection(server).listing())

    def prompts(self, server: str) -> tuple[Prompt, ...]:
        """The prompts of a server as far as they are known without asking it."""
        connection = self._connections.get(server)
        offered = connection.offered if connection is not None else None
        known = offered or self._pinned.get(server)
        return known.prompts if known is not None else ()

    def connect(self, names: Iterable[str]) -> None:
        """Start servers, all at the same time; what is wrong with one of them is told by its status."""
        self._loop.run(self._meet(names))

    def statuses(self) -> tuple[Status, ...]:
        """Where every server stands; nothing is started."""
        return tuple(self._status(name) for name in self._specs)

    def accept(self, server: str) -> None:
        """Agree to what a server offers now.

        Raises:
            ToolError: it cannot be reached.
        """
        self._connected(server)
        self._pin(server)

    def restart(self, server: str) -> None:
        """End a server and start it again.

        Raises:
            ToolError: it does not start.
        """
        connection = self._connection(server)
        self._loop.run(connection.close())
        connection.forgive()
        self._connected(server)
        if self._pinned[server] is None:
            self._pin(server)

    def login(self, server: str) -> None:
        """Log in to a server over HTTP; the user is led to its page.

        Raises:
            ToolError: it needs no login, or the login failed.
        """
        if server in self._connections:
            self._loop.run(self._connections.pop(server).close())
        patient = replace(self._specs[server], startup_s=LOGIN_S)
        connection = Connection(patient, self._open_login)
        self._run(server, connection.ready())
        self._loop.run(connection.close())
        self.restart(server)

    def close(self) -> None:
        """End all of them."""
        while self._connections:
            self._loop.run(self._connections.popitem()[1].close())
        self._loop.close()

    async def _meet(self, names: Iterable[str]) -> None:
        await asyncio.gather(*(self._met(name) for name in names))

    async def _met(self, name: str) -> None:
        """Connect to a server that is new, and agree to what it offers: the user named it."""
        try:
            await self._connection(name).ready()
        except ServerFailed:
            return  # its status says why
        if self._pinned[name] is None:
            self._pin(name)

    def _connection(self, name: str) -> Connection:
        with self._making:
            if name not in self._connections:
                self._connections[name] = Connection(self._specs[name], self._open)
            return self._connections[name]

    def _connected(self, name: str) -> None:
        self._run(name, self._connection(name).ready())

    def _run(self, name: str, work: Coroutine[Any, Any, _T]) -> _T:
        try:
            return self._loop.run(work)
        except ServerFailed as exc:
            raise ToolError(
                failed(
                    f"the MCP server {name} is not there: {exc}",
                    error_type="server-failed",
                    text=str(exc),
                    next_actions=("go on without it",),
                )
            ) from exc

    def _shown(self, name: str, observation: Observation) -> Observation:
        scrub = self._connection(name).scrub
        return replace(observation, summary=scrub(observation.summary), text=scrub(observation.text))

    def _pin(self, name: str) -> None:
        offered = self._connection(name).offered
        if offered is not None:
            self._pinned[name] = offered
            self._pins.store(self._specs[name].digest, offered)

    def _changes(self, name: str) -> dict[str, str]:
        """What the running server says differently from what was agreed to."""
        connection, pinned = self._connections.get(name), self._pinned[name]
        if connection is None or connection.offered is None or pinned is None:
            return {}
        return pinned.changes(connection.offered)

    def _refuse_changed(self, server: str, tool: str) -> None:
        with self._asking:  # one person reads one question; what they agreed to holds for those who waited
            if tool in self._changes(server):
                raise self._changed(server, tool)

    def _changed(self, server: str, tool: str) -> ToolError:
        """Ask the person about a tool that describes itself differently now; the call is not made either way."""
        offered = self._connection(server).offered or Pinned(definitions=())
        now = next(one for one in offered.definitions if one.name == tool)
        agreed = self._agree(server, f"{server} describes {tool} differently now: {now.description[:400]}")
        if agreed:
            self._pin(server)
        return ToolError(
            failed(
                f"{server} changed the definition of {tool}" + ("" if agreed else "; nobody agreed to it"),
                error_type="definition-changed",
                text="The call was not made. " + ("Call it again as it is now." if agreed else ""),
                retryable=agreed,
            )
        )

    def _offered(self, name: str) -> dict[str, Definition]:
        pinned = self._pinned[name]
        return offered_names(name, pinned.definitions) if pinned is not None else {}

    def _tool(self, offered: str, server: str, definition: Definition) -> Tool:
        spec = self._specs[server]
        looking = "network" if spec.url or spec.network or not spec.sandbox else "run"
        does = looking if definition.looks else "destructive" if definition.destroys else "unknown"
        return Tool(
            name=offered,
            description=definition.description,
            parameters=definition.parameters,
            effect="network",
            does=does,
            looks=definition.looks,
            run=partial(self._called, server, definition.name),
        )

    def _called(self, server: str, tool: str, arguments: Mapping[str, object], _context: ToolContext) -> Observation:
        return self.call(server, tool, arguments)

    def _reader(self) -> Tool:
        return Tool(
            name="mcp_read_resource",
            description="Read a resource of an MCP server.",
            parameters=takes("server uri", server=TEXT, uri=TEXT),
            effect="network",
            does="network",
            looks=True,
            run=lambda arguments, _context: self.read(str(arguments["server"]), str(arguments["uri"])),
        )

    def _status(self, name: str) -> Status:
        spec, connection = self._specs[name], self._connections.get(name)
        return Status(
            name=name,
            state=connection.state if connection is not None else "idle",
            where=spec.url or " ".join(spec.command),
            reason=connection.reason if connection is not None else "",
            tools=tuple(self._offered(name)),
            changed=tuple(self._changes(name)),
        )
