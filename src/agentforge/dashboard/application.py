"""The dashboard as an ASGI application: addresses, answers to errors, files of its own.

Tells open pages which tasks changed, as server-sent events; the pages fetch themselves again.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, cast

from agentforge.dashboard import actions, answer_page, measures_page, pages, session_pages, step_page, task_pages
from agentforge.dashboard.board import Board, board_of
from agentforge.dashboard.ground import Signature
from agentforge.dashboard.guard import Application, Guard, Receive, Scope, Send
from agentforge.dashboard.page_templates import page
from agentforge.errors import AgentForgeError, ConfigError, ConflictError, IntegrityError, LockedError, UsageError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route


_STATIC = Path(__file__).parent / "static"
_FILES = {
    "app.css": "text/css",
    "app.js": "text/javascript",
    "login.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


def application(board: Board) -> Application:
    """Everything behind the guard."""
    from starlette.applications import Starlette

    inner = Starlette(
        routes=_routes(),
        exception_handlers={AgentForgeError: _failure, 404: _missing, 405: _missing},  # type: ignore[dict-item] # narrower than any Exception
    )
    inner.state.board = board
    return Guard(cast("Application", inner), door=board.door, login=_login)


def _routes() -> list[Route]:
    from starlette.routing import Route

    return [
        Route("/", pages.tasks_page),
        Route("/new", actions.new_page),
        Route("/new", actions.start, methods=["POST"]),
        Route("/sessions", session_pages.sessions_page),
        Route("/sessions/{session}", session_pages.session_page),
        Route("/waiting", pages.waiting_page),
        Route("/measures", measures_page.measures_page),
        Route("/metrics", pages.prometheus_page),
        Route("/live", live),
        Route("/answer", answer_page.answer_page, methods=["GET", "POST"]),
        Route("/login", actions.enter, methods=["POST"]),
        Route("/static/{name}", _static),
        Route("/t/{repo}/{task}", task_pages.task_page),
        Route("/t/{repo}/{task}/audit.html", task_pages.document_page),
        Route("/t/{repo}/{task}/steps/{step}", step_page.step_page),
        Route("/t/{repo}/{task}/trail/{seq}", task_pages.event_page),
        Route("/t/{repo}/{task}/{tab}", task_pages.task_page),
        Route("/t/{repo}/{task}/{action}", actions.act, methods=["POST"]),
    ]


def _static(request: Request) -> Response:
    from starlette.responses import FileResponse, PlainTextResponse

    name = request.path_params["name"]
    if name not in _FILES:
        return PlainTextResponse("no such file\n", status_code=404)
    return FileResponse(_STATIC / name, media_type=_FILES[name], headers={"cache-control": "no-cache"})


async def _login(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer whoever has no cookie: a page that takes the token out of the address, or asks for it."""
    await page("login.html", status=401)(scope, receive, send)


def _failure(request: Request, error: AgentForgeError) -> Response:
    return _told(request, _status(request, error), title=error.slug, message=error.message, hint=error.hint)


def _missing(request: Request, error: Exception) -> Response:
    del error
    message = f"{request.method} {request.url.path} leads nowhere"
    return _told(request, 404, title="not found", message=message, hint="go to the list of tasks")


def _told(request: Request, status: int, **words: str) -> Response:
    """A page about an error; nothing is read for it, since reading may be what went wrong."""
    return page("error.html", status=status, path=request.url.path, read_only=False, waiting_count=0, **words)


def _status(request: Request, error: AgentForgeError) -> int:
    """An address that asks for what is not there is a 404; a form that asks for what cannot be is a 400."""
    if isinstance(error, (ConflictError, LockedError)):
        return 409
    if isinstance(error, UsageError):
        return 400 if request.method == "POST" or isinstance(error, ConfigError) else 404
    return 500 if isinstance(error, IntegrityError) else 503


_LOOK_S = 0.5
_BEAT_LOOKS = 20


async def live(request: Request) -> Response:
    """Stream the names of tasks that changed, until the page is closed."""
    from starlette.responses import StreamingResponse

    return StreamingResponse(_events(board_of(request)), media_type="text/event-stream")


async def _events(board: Board) -> AsyncIterator[bytes]:
    """One event for each change; a beat now and then, with which a page finds out that a process died."""
    import asyncio

    from starlette.concurrency import run_in_threadpool

    yield b"retry: 1500\n\n"
    before = await run_in_threadpool(_signature, board)
    looks = 0
    while not board.stopping():
        await asyncio.sleep(_LOOK_S)
        looks += 1
        now = await run_in_threadpool(_signature, board)
        if now != before:
            yield f"data: {json.dumps(changed_tasks(before, now))}\n\n".encode()
            before = now
        elif looks % _BEAT_LOOKS == 0:
            yield b"event: beat\ndata: {}\n\n"


def _signature(board: Board) -> Signature:
    """What there is now; nothing while the registry is broken, which every page says."""
    try:
        return board.ground.signature()
    except ConfigError:
        return ()


def changed_tasks(before: Signature, now: Signature) -> list[str]:
    """Names of the tasks that differ between two looks."""
    folders = {PurePath(path.removesuffix("/lease")).name for path, _, _ in frozenset(before) ^ frozenset(now)}
    return sorted(folders)
