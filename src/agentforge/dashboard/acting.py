"""What can be done from a page: answer, approve, go on, stop, end. Each form brings a token that only our pages know."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from agentforge.app.tasks.answers import resolve
from agentforge.app.tasks.stop import abort
from agentforge.config.settings import load
from agentforge.dashboard.board import board_of
from agentforge.errors import ConflictError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from agentforge.dashboard.board import Board
    from agentforge.dashboard.ground import Repository
    from agentforge.events.kinds import Decision

Form = Mapping[str, str]
Action = Callable[["Board", "Repository", "Path", Form], None]

_LONGEST_BODY = 200_000
_STOPPING_S = 20.0


async def act(request: Request) -> Response:
    """Do what a form of a task asks for, then show the task."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import RedirectResponse

    board, asked = board_of(request), request.path_params
    form = await form_of(request)
    refuse_forged(board, request, form)
    repository = board.ground.find(asked["repo"])
    folder = board.ground.task_folder(asked["repo"], asked["task"])
    action = _ACTIONS.get(asked["action"])
    if action is None:
        raise UsageError(f"nothing is called {asked['action']!r}", hint="one of " + ", ".join(_ACTIONS))
    await run_in_threadpool(action, board, repository, folder, form)
    board.ground.look_again()
    return RedirectResponse(f"/t/{repository.key}/{folder.name}", status_code=303)


def refuse_forged(board: Board, request: Request, form: Form) -> None:
    """Let a change pass only where changes are wanted and the form is one of ours.

    Raises:
        ConflictError: it is not.
    """
    if board.door.read_only:
        raise ConflictError("this dashboard is read-only", hint="start it without --read-only")
    ours = hmac.compare_digest(form.get("csrf", "").encode(), board.door.csrf.encode())
    if not ours and not board.door.bears_token(request.headers):
        raise ConflictError("the form is not from this dashboard, or it was started anew", hint="load the page again")


async def enter(request: Request) -> Response:
    """Exchange the token for a cookie that scripts cannot read."""
    from starlette.responses import PlainTextResponse, RedirectResponse

    door = board_of(request).door
    form = await form_of(request)
    if not door.fits(form.get("token", "")):
        return PlainTextResponse("this is not the token of the dashboard that runs here\n", status_code=403)
    answer = RedirectResponse("/", status_code=303)
    answer.set_cookie(door.cookie, door.session, httponly=True, samesite="strict", path="/")
    return answer


async def form_of(request: Request) -> Form:
    """The fields of a form.

    Raises:
        UsageError: it is too long, or no form.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_BODY:
            raise UsageError(f"a form of more than {_LONGEST_BODY} bytes", hint="answer with a shorter text")
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50))
    except ValueError as exc:
        raise UsageError("the body is not a form", hint="send it as application/x-www-form-urlencoded") from exc


def _resolve(board: Board, repository: Repository, folder: Path, form: Form) -> None:
    """Record an answer; then go on, unless that is not wanted."""

    decision, text = answer_of(form)
    address = f"{folder.name}.{form.get('escalation', '')}"
    settings = load(repository.path, board.environ)  # the answer travels where they name a remote
    reopen = form.get("reopen", "")
    resolve(repository.path, address, decision=decision, text=text, by=board.user, reopen=reopen, settings=settings)
    if form.get("resume") or decision == "abort":
        board.children.resume(repository.path, folder)


def answer_of(form: Form) -> tuple[Decision, str]:
    """The decision of a form, and its text.

    Raises:
        UsageError: there is no such decision, or a rejection has no reason.
    """
    option = form.get("option", "")
    decision = "answer" if option or form.get("reopen") else _decision(form.get("decision", ""))
    text = (option or form.get("text", "")).strip()
    if decision == "reject" and not text:
        raise UsageError("a rejection needs its reason", hint="write what is wrong; it goes into the stage")
    return decision, text


def _decision(word: str) -> Decision:
    decisions: Mapping[str, Decision] = {
        "answer": "answer", "approve": "approve", "reject": "reject", "abort": "abort",
    }  # fmt: skip
    if word not in decisions:
        raise UsageError(f"no decision {word!r}", hint="one of " + ", ".join(decisions))
    return decisions[word]


def _resume(board: Board, repository: Repository, folder: Path, form: Form) -> None:
    """Go on with a task, with another model where the form names one."""
    outcome = board.readings.of(folder).state.outcome
    if outcome:
        raise ConflictError(f"{folder.name} has ended: {outcome}", hint="start a new task")
    model = form.get("model", "").strip()
    board.children.resume(repository.path, folder, more=("--model", model) if model else ())


def _interrupt(board: Board, repository: Repository, folder: Path, form: Form) -> None:
    del repository, form
    if not board.children.interrupt(folder):
        raise ConflictError(
            f"{folder.name} was not started from this dashboard", hint="stop it where it was started, with Ctrl-C"
        )


def _abort(board: Board, repository: Repository, folder: Path, form: Form) -> None:
    """End a task; a process of ours that drives it is stopped first."""

    if board.children.interrupt(folder):
        board.children.wait(folder, seconds=_STOPPING_S)
    settings = load(repository.path, board.environ)
    abort(repository.path, folder.name, reason=form.get("reason", "").strip(), settings=settings, environ=board.environ)


_ACTIONS: Mapping[str, Action] = {
    "resolve": _resolve,
    "resume": _resume,
    "interrupt": _interrupt,
    "abort": _abort,
}
