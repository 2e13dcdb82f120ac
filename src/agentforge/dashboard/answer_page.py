"""The page behind a signed link of a message: one question, answered once, on this machine, without the dashboard's token."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentforge.app.tasks.answers import resolve
from agentforge.config.paths import data_dir
from agentforge.config.settings import load
from agentforge.dashboard.actions import answer_of, form_of
from agentforge.dashboard.board import Board, board_of
from agentforge.dashboard.page_templates import page
from agentforge.dashboard.task_pages import to_approve
from agentforge.errors import AgentForgeError, ConflictError, RepositoryError, UsageError
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.notify import Grant, is_spent, link_key, spend, verify
from agentforge.store.log.reader import load_state
from agentforge.store.tasks.folders import tasks_folder

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


_LOCAL = ("127.0.0.1", "localhost", "::1")


async def answer_page(request: Request) -> Response:
    """Show the question of a link (GET), or record its answer (POST)."""
    from starlette.concurrency import run_in_threadpool

    board = board_of(request)
    try:
        if request.method == "POST":
            form = await form_of(request)
            values = await run_in_threadpool(_answered, request, board, form)
        else:
            values = await run_in_threadpool(_asked, request, board, request.query_params.get("token", ""))
    except AgentForgeError as exc:
        status = 409 if isinstance(exc, ConflictError) else 400
        return page("answer.html", status=status, state=None, item=None, done="", trouble=exc.message, hint=exc.hint)
    return page("answer.html", status=200, **{"done": "", "trouble": "", "hint": "", **values})


def _asked(request: Request, board: Board, token: str) -> dict[str, Any]:
    grant, state, item = _opened(request, board, token)
    del grant
    shown = to_approve(state) if item.kind == "approval" else None
    return {"state": state, "item": item, "shown": shown, "token": token, "read_only": board.door.read_only}


def _answered(request: Request, board: Board, form: Mapping[str, str]) -> dict[str, Any]:
    """Use the link up, then record the answer, then go on with the task."""
    if board.door.read_only:
        raise ConflictError("this dashboard is read-only", hint="use the command of the message")
    grant, state, _ = _opened(request, board, form.get("token", ""))
    decision, text = answer_of(form)
    if decision == "answer" and not text:
        raise UsageError("the answer is empty", hint="go back and write one")
    repo = Path(grant.repo)
    settings = load(repo, board.environ)
    spend(_folder(board), grant)
    by, reopen = f"{board.user}, by a link", form.get("reopen", "")
    resolve(repo, grant.address, decision=decision, text=text, by=by, reopen=reopen, settings=settings)
    if form.get("resume") or decision == "abort":
        board.children.resume(repo, tasks_folder(repo) / state.identity.run_id)
    board.ground.look_again()
    return {"state": state, "item": None, "done": decision}


def _opened(request: Request, board: Board, token: str) -> tuple[Grant, RunState, Escalation]:
    """What a link is about, if it may be used here and now.

    Raises:
        UsageError: it was not made here, has expired, or is used from another machine.
        ConflictError: it was used, or the question has its answer.
        RepositoryError: its task is not where it was.
    """
    if urlsplit(f"//{request.headers.get('host', '')}").hostname not in _LOCAL:
        raise UsageError("links work on the machine of the dashboard only", hint="use the command of the message")
    grant = verify(link_key(_folder(board)), token, now=int(time.time()))
    if is_spent(_folder(board), grant):
        raise ConflictError(f"the link for {grant.address} was used already", hint="see: agentforge escalations list")
    task, _, name = grant.address.rpartition(".")
    folder = tasks_folder(Path(grant.repo)) / task
    if not folder.is_dir():
        raise RepositoryError(
            f"{task} is not in {grant.repo} any more", hint="was the repository moved, or the task removed?"
        )
    state = load_state(folder)
    item = state.people.escalations.get(name)
    if item is None:
        raise UsageError(f"there is no question {grant.address}", hint="see: agentforge escalations list")
    if item.resolution is not None:
        raise ConflictError(f"{grant.address} was answered already, by {item.resolution.by}")
    if state.progress.outcome:
        raise ConflictError(f"{task} has ended: {state.progress.outcome}")
    return grant, state, item


def _folder(board: Board) -> Path:
    return data_dir(board.environ) / "links"
