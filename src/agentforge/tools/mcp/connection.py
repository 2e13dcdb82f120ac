"""One server while it is connected: started when it is needed, given up with a reason, tried again later and later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

from agentforge import __version__
from agentforge.installation import command_for
from agentforge.safety.text.hygiene import clean
from agentforge.safety.text.redaction import redact
from agentforge.tools.base import ToolError, failed
from agentforge.tools.mcp.definitions import Pinned, Prompt, definition_of, filled_in, prompt_of
from agentforge.tools.mcp.spec import ServerSpec

if TYPE_CHECKING:
    from mcp import Client


State = Literal["idle", "starting", "ready", "failed"]
_CHANGED = ("notifications/tools/list_changed", "notifications/prompts/list_changed")
"""Resources are listed anew whenever somebody asks for them."""
_UNREACHABLE = "All connection attempts failed"
_WORDLESS = ("", "Connection closed", "Server returned an error response")


class Wire(Protocol):
    """What is known about the way to a server, also after it has ended."""

    over: asyncio.Event

    def reason(self) -> str:
        """Why there is nobody at the other end, in words; "" when nothing is known."""


Opened = tuple[AbstractAsyncContextManager[Any], "Wire | None"]
_MOST_PAGES = 20
_MOST_TOOLS = 500
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


class ServerFailed(Exception):
    """A server cannot be used now; the text says why."""


class Connection:
    """A server and its state. Everything but the attributes belongs to the thread of the event loop.

    Attributes:
        state: where it stands.
        reason: why it failed, "" when it did not.
        offered: what it said that it offers when it was last connected.
    """

    def __init__(self, spec: ServerSpec, open_transport: Callable[[ServerSpec], Opened]) -> None:
        self.spec = spec
        self.state: State = "idle"
        self.reason = ""
        self.offered: Pinned | None = None
        self._open = open_transport
        self._client: Client | None = None
        self._pipe: Wire | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._starting = asyncio.Lock()
        self._stale = False
        self._failures = 0
        self._not_before = 0.0

    async def ready(self) -> Client:
        """Connect, when that is not done.

        Raises:
            ServerFailed: it does not start, or failed a moment ago.
        """
        async with self._starting:
            if self._client is not None and self._task is not None and not self._task.done():
                if self._stale:
                    self._stale = False
                    self.offered = await self._answer(partial(_offered, self._client), what="tools")
                return self._client
            wait_s = self._not_before - asyncio.get_running_loop().time()
            if wait_s > 0:
                raise ServerFailed(f"{self.reason} (tried again in {wait_s:.0f} s at the earliest)")
            await self._start()
        assert self._client is not None
        return self._client

    async def call(self, tool: str, arguments: Mapping[str, object]) -> Any:
        """Call a tool; once, whatever happens.

        Raises:
            ToolError: no answer in time, or the server refused or broke the protocol; says which.
            ServerFailed: it is not there.
        """
        client = await self.ready()
        return await self._answer(lambda: client.call_tool(tool, dict(arguments)), what=tool)

    async def read(self, uri: str) -> Any:
        """Read a resource; errors as those of `call`."""
        client = await self.ready()
        return await self._answer(lambda: client.read_resource(uri), what=uri)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """Fill in a prompt of the server; errors as those of `call`."""
        client = await self.ready()
        found = await self._answer(lambda: client.get_prompt(name, dict(arguments)), what=name)
        return filled_in(found)

    async def listing(self) -> dict[str, list[str]]:
        """Name the resources and prompts that it offers."""
        client = await self.ready()
        known = client.server_capabilities
        found: dict[str, list[str]] = {"resources": [], "prompts": []}
        if known.resources is not None:
            listed = await self._answer(client.list_resources, what="resources")
            found["resources"] = [f"{one.uri} ({one.name})" for one in listed.resources]
        if self.offered is not None:
            found["prompts"] = [one.name for one in self.offered.prompts]
        return found

    async def close(self) -> None:
        """End the connection, and with it a server that was started here."""
        self._stop.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=5)
        self._client, self.state = None, "idle"

    def forgive(self) -> None:
        """Try again at once, whatever failed before."""
        self._failures, self._not_before = 0, 0.0

    def scrub(self, text: str) -> str:
        """Take the server's own secrets and control characters out of a text."""
        return redact(clean(text), secrets=self.spec.secrets).text

    async def _start(self) -> None:
        self.state, self.reason, self._client = "starting", "", None
        self._stop = asyncio.Event()
        _load_library()
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(ready))
        done, _ = await asyncio.wait({ready, self._task}, timeout=self.spec.startup_s, return_when="FIRST_COMPLETED")
        if ready in done:
            self.state, self._failures = "ready", 0
            return
        if not done:
            self.reason = f"it did not answer within {self.spec.startup_s:g} s"
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=5)
        self._failed("; ".join(part for part in (self._told(), self.spec.advice) if part))
        raise ServerFailed(self.reason)

    async def _live(self, ready: asyncio.Future[None]) -> None:
        """Hold the connection open in one task, because its parts must be left where they were entered."""
        try:
            from mcp import Client

            async with AsyncExitStack() as stack:
                transport, self._pipe = self._open(self.spec)
                client = await stack.enter_async_context(
                    Client(transport, cache=None, client_info=_who(), message_handler=self._heard)
                )
                self.offered = await _offered(client)
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                await self._until_over()
        except Exception as exc:  # noqa: BLE001  # whatever a server makes of the protocol ends here, with its reason
            self.reason = self.reason or self._complaint(exc)
        finally:
            self._client = None
            if self.state == "ready" and not self._stop.is_set():
                self._failed(self._told() or "the connection ended")

    async def _heard(self, message: Any) -> None:
        """A server says by itself that it offers something else now: it is asked what, before the next call."""
        told = getattr(message, "root", message)
        if getattr(told, "method", "") in _CHANGED:
            self._stale = True

    async def _until_over(self) -> None:
        waits = [asyncio.create_task(self._stop.wait())]
        if self._pipe is not None:
            waits.append(asyncio.create_task(self._pipe.over.wait()))
        try:
            await asyncio.wait(waits, return_when="FIRST_COMPLETED")
        finally:
            for wait in waits:
                wait.cancel()

    def _told(self) -> str:
        """What is known about the end: what this side saw, then what the process said."""
        said = self._pipe.reason() if self._pipe is not None else ""
        first = "" if said and self.reason in _WORDLESS else self.reason
        return "; ".join(part for part in (first, said) if part)

    def _complaint(self, error: BaseException) -> str:
        """What an error says, with the address that it is about."""
        words = _words(error)
        return f"{self.spec.url} cannot be reached: {words}" if words == _UNREACHABLE else words

    def _failed(self, reason: str) -> None:
        self._failures += 1
        wait_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** (self._failures - 1)) if self._failures > 1 else 0.0
        self._not_before = asyncio.get_running_loop().time() + wait_s
        self.state, self.reason = "failed", self.scrub(reason)[:800] or "it ended without a word"

    async def _answer(self, ask: Callable[[], Awaitable[Any]], *, what: str) -> Any:
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        try:
            return await asyncio.wait_for(ask(), self.spec.call_s)
        except TimeoutError as exc:
            raise ToolError(
                failed(f"{self.spec.name}: no answer to {what} within {self.spec.call_s:g} s", error_type="timeout")
            ) from exc
        except ValidationError as exc:
            raise ToolError(
                failed(f"{self.spec.name}: the answer to {what} is not what the protocol allows", error_type="protocol")
            ) from exc
        except MCPError as exc:
            await self._settle()
            if self._client is None:
                raise self._lost(what) from exc
            words = self.scrub(str(exc))
            raise ToolError(failed(f"{self.spec.name}: {words[:150]}", error_type="server-error", text=words)) from exc
        except Exception as exc:
            self.reason = _words(exc)
            self._stop.set()
            raise self._lost(what) from exc

    async def _settle(self) -> None:
        """Let a connection that has just ended notice it."""
        if self._pipe is not None and self._task is not None and self._pipe.over.is_set():
            await asyncio.wait({self._task}, timeout=5)

    def _lost(self, what: str) -> ToolError:
        reason = self.scrub(self.reason)
        return ToolError(
            failed(
                f"{self.spec.name}: the server was lost while it answered {what}",
                error_type="server-lost",
                text=f"{reason}\nWhat the call did is unknown. The server is started again with the next call.",
            )
        )


def _load_library() -> None:
    """What the protocol's library takes to load is none of the server's time to start."""
    with suppress(ImportError):  # `_live` says what is missing
        for name in ("mcp", "mcp.shared.message", "mcp_types"):
            import_module(name)


async def _offered(client: Client) -> Pinned:
    known, cursor = [], None
    if client.server_capabilities.tools is not None:
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            known += page.tools
            cursor = page.next_cursor
            if not cursor or len(known) >= _MOST_TOOLS:
                break
    prompts = (await client.list_prompts()).prompts if client.server_capabilities.prompts is not None else ()
    return Pinned(
        definitions=tuple(_definition(one) for one in known[:_MOST_TOOLS]),
        resources=client.server_capabilities.resources is not None,
        prompts=tuple(map(_prompt, prompts[:_MOST_TOOLS])),
    )


def _prompt(prompt: Any) -> Prompt:
    arguments = [(one.name, bool(one.required)) for one in prompt.arguments or ()]
    return prompt_of(prompt.name, prompt.description or prompt.title or "", arguments)


def _definition(tool: Any) -> Any:
    hints = tool.annotations
    return definition_of(
        tool.name,
        tool.description or tool.title or "",
        tool.input_schema,
        looks=hints is not None and hints.read_only_hint is True,
        destroys=hints is not None and hints.read_only_hint is not True and hints.destructive_hint is True,
    )


def _who() -> Any:
    from mcp_types import Implementation

    return Implementation(name="agentforge", version=__version__)


def _words(error: BaseException) -> str:
    """What an error says; of a group of them the first that says something."""
    if isinstance(error, BaseExceptionGroup):
        return next((words for one in error.exceptions if (words := _words(one))), type(error).__name__)
    if isinstance(error, ModuleNotFoundError) and error.name in ("mcp", "mcp_types", "httpx2"):
        return f"MCP servers need a library that is not installed: {command_for('mcp')}"
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename!r} here: install it, or correct the server's command"
    return str(error) or type(error).__name__
