"""The methods of the protocol that an editor calls; each is a few lines in front of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from acp import RequestError
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    AuthMethodAgent,
    CloseSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
)

from agentforge import __version__
from agentforge.acp_server.link import Link
from agentforge.acp_server.session import EditorSession
from agentforge.acp_server.words import modes_now, said_of
from agentforge.app.sessions.chat import ChatOptions
from agentforge.app.sessions.closed_sessions import all_sessions
from agentforge.config.model_choice import choose
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, ModelAuthError, ModelNotConfigured, UsageError

if TYPE_CHECKING:
    from acp.interfaces import Client


T = TypeVar("T")

VERSION = 1
SETTINGS = "settings"
_PAGE = 50
_INVALID, _AUTH, _FAILED = -32602, -32000, -32603
OpenPlace = Callable[[str, Mapping[str, object]], "tuple[Path, Mapping[str, str], Callable[[], Settings]]"]
"""(folder, more settings) -> the folder, its environment, its settings."""


class EditorAgent:
    """AgentForge as an agent of the protocol.

    Args:
        open_place: reads environment and settings of a folder.
        options: what the command line says of every session: model, approval.
    """

    def __init__(self, open_place: OpenPlace, *, model: str | None = None, approval: str = "") -> None:
        self._open_place = open_place
        self._model = model
        self._approval = approval
        self._client: Client | None = None
        self._sessions: dict[str, EditorSession] = {}
        self._working: set[str] = set()

    def on_connect(self, conn: Client) -> None:
        """Remember who is at the other end."""
        self._client = conn

    async def initialize(self, protocol_version: int, **_others: Any) -> InitializeResponse:
        """Say what this agent can do; the version is 1, whatever is asked for."""
        del protocol_version
        method = AuthMethodAgent(
            id=SETTINGS,
            name="As configured",
            description="A key in the environment or a server on this machine; `agentforge init` sets it up.",
        )
        return InitializeResponse(
            protocol_version=VERSION,
            agent_info=Implementation(name="agentforge", title="AgentForge", version=__version__),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(embedded_context=True, image=False, audio=False),
                mcp_capabilities=McpCapabilities(http=True, sse=False),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(), resume=SessionResumeCapabilities(), close=SessionCloseCapabilities()
                ),
            ),
            auth_methods=[method],
        )

    async def authenticate(self, method_id: str, **_others: Any) -> AuthenticateResponse:
        """Find out whether a model can be asked with what is configured."""
        if method_id != SETTINGS:
            raise RequestError(_INVALID, f"there is no way {method_id!r} to log in; use {SETTINGS!r}")
        await self._thread(lambda: self._check_model(str(Path.cwd())))
        return AuthenticateResponse()

    async def new_session(self, cwd: str, mcp_servers: Any = None, **_others: Any) -> NewSessionResponse:
        """Begin a session in a folder."""
        session = await self._opened(cwd, "", mcp_servers, replays=False)
        return NewSessionResponse(
            session_id=session.chat.session_id, modes=modes_now(session.mode), config_options=session.options()
        )

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, **_others: Any
    ) -> LoadSessionResponse:
        """Go on with a session, and show its history again."""
        session = await self._opened(cwd, session_id, mcp_servers, replays=True)
        return LoadSessionResponse(modes=modes_now(session.mode), config_options=session.options())

    async def resume_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, **_others: Any
    ) -> ResumeSessionResponse:
        """Go on with a session without showing its history."""
        session = await self._opened(cwd, session_id, mcp_servers, replays=False)
        return ResumeSessionResponse(modes=modes_now(session.mode), config_options=session.options())

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_others: Any
    ) -> ListSessionsResponse:
        """List the sessions, newest first, of one folder or of all."""
        if cursor and not cursor.isdecimal():
            raise RequestError(_INVALID, f"{cursor!r} is no cursor of this agent")
        folder, environ, _ = await self._thread(lambda: self._open_place(cwd or str(Path.cwd()), {}))
        rows = await self._thread(lambda: all_sessions(environ, cwd=folder if cwd else None))
        rows = [row for row in rows if not row.problem and row.cwd]
        first = int(cursor or 0)
        shown = [
            SessionInfo(
                session_id=row.session_id,
                cwd=row.cwd,
                title=row.name or row.goal[:80] or None,
                updated_at=row.updated_at,
            )
            for row in rows[first : first + _PAGE]
        ]
        more = str(first + _PAGE) if len(rows) > first + _PAGE else None
        return ListSessionsResponse(sessions=shown, next_cursor=more)

    async def prompt(self, session_id: str, prompt: list[Any], **_others: Any) -> PromptResponse:
        """Work on a prompt; updates go out meanwhile."""
        session = self._session(session_id)
        if session_id in self._working:
            raise RequestError(_INVALID, "a prompt of this session is still worked on; cancel it first")
        self._working.add(session_id)
        session.begin()
        try:
            said = await self._thread(lambda: said_of(prompt, session.root))
            future = session.worker.submit(session.prompt, said)
            reason = await self._told(asyncio.wrap_future(future))
        finally:
            self._working.discard(session_id)
        return PromptResponse(stop_reason=reason)  # type: ignore[arg-type] # one of the protocol's words

    async def cancel(self, session_id: str, **_others: Any) -> None:
        """Stop the prompt that is worked on."""
        if session_id in self._sessions:
            self._sessions[session_id].stop()

    async def set_session_mode(self, session_id: str, mode_id: str, **_others: Any) -> SetSessionModeResponse:
        """Go on in another mode."""
        session = self._session(session_id)
        await self._thread(lambda: session.set_mode(mode_id))
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_others: Any
    ) -> SetSessionConfigOptionResponse:
        """Choose an option; the answer tells all of them."""
        session = self._session(session_id)
        before = session.mode
        await self._thread(lambda: session.set_option(config_id, str(value)))
        if session.mode != before:
            from acp.helpers import update_current_mode

            await self._thread(lambda: session.link.send(update_current_mode(session.mode)))
        return SetSessionConfigOptionResponse(config_options=session.options())

    async def close_session(self, session_id: str, **_others: Any) -> CloseSessionResponse:
        """Let go of a session; it can be loaded again."""
        session = self._session(session_id)
        del self._sessions[session_id]
        await asyncio.to_thread(session.close)
        return CloseSessionResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """There are no methods beyond the protocol."""
        del params
        raise RequestError.method_not_found(method)

    def stop_all(self) -> None:
        """Stop every prompt that is worked on."""
        for session in self._sessions.values():
            session.stop()

    async def close(self) -> None:
        """Let go of all sessions."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await asyncio.to_thread(session.close)

    # -- below: opening

    async def _opened(self, cwd: str, session_id: str, servers: Any, *, replays: bool) -> EditorSession:
        assert self._client is not None
        if not Path(cwd).is_absolute():
            raise RequestError(_INVALID, f"cwd {cwd!r} is not an absolute path")
        if session_id in self._sessions:
            await self.close_session(session_id)
        link = Link(self._client, asyncio.get_running_loop(), session=session_id)
        session = await self._thread(lambda: self._open(cwd, session_id, servers, link))
        self._sessions[session.chat.session_id] = session
        updates = session.opening(replays=replays)
        if replays:
            await asyncio.to_thread(link.send, *updates)
        else:  # the editor knows the session when it has the answer
            self._later = asyncio.get_running_loop().create_task(asyncio.to_thread(link.send, *updates))
        return session

    def _open(self, cwd: str, session_id: str, servers: Any, link: Link) -> EditorSession:
        folder, environ, settings = self._open_place(cwd, server_settings(servers or []))
        options = ChatOptions(cwd=folder, session=session_id, model=self._model, approval=self._approval)
        return EditorSession(options, link, settings=settings, environ=environ)

    def _check_model(self, cwd: str) -> None:
        _, environ, settings = self._open_place(cwd, {})
        choose(settings(), environ, flag=self._model)

    def _session(self, session_id: str) -> EditorSession:
        if session_id not in self._sessions:
            raise RequestError(_INVALID, f"there is no open session {session_id!r}; begin or load it first")
        return self._sessions[session_id]

    async def _thread(self, work: Callable[[], T]) -> T:
        return await self._told(asyncio.to_thread(work))

    async def _told(self, work: Awaitable[T]) -> T:
        """Await; what went wrong is told as the protocol's errors."""
        try:
            return await work
        except AgentForgeError as error:
            raise RequestError(code_of(error), str(error), {"slug": error.slug, "hint": error.hint}) from error


def code_of(error: AgentForgeError) -> int:
    """The protocol's number for an error."""
    if isinstance(error, ModelNotConfigured | ModelAuthError):
        return _AUTH
    return _INVALID if isinstance(error, UsageError) else _FAILED


def server_settings(servers: list[Any]) -> dict[str, object]:
    """The MCP servers that the editor brings, as settings."""
    found: dict[str, object] = {}
    for server in servers:
        key = f'mcp_servers."{server.name}"'
        url = getattr(server, "url", None)
        if url is not None:
            found[f"{key}.url"] = str(url)
            headers = {header.name: header.value for header in getattr(server, "headers", None) or []}
            found |= {f"{key}.headers": headers} if headers else {}
        elif getattr(server, "command", None):
            variables = {one.name: one.value for one in server.env or []}
            found |= {f"{key}.command": server.command, f"{key}.args": list(server.args or [])}
            found |= {f"{key}.env": variables} if variables else {}
    return found
