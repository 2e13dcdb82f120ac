"""What can be done from a page: answer, approve, go on, stop, end. Each form brings a token that only our pages know.

Starting a task from a page: a request, a repository, a model, and what a person wants to see before it goes on.
"""

from __future__ import annotations

import hmac
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from agentforge.app.tasks.answers import resolve
from agentforge.app.tasks.runs import create
from agentforge.app.tasks.start_options import StartOptions
from agentforge.app.tasks.stop import abort
from agentforge.config.dotenv import merged_environment
from agentforge.config.model_choice import explain
from agentforge.config.paths import project_tops
from agentforge.config.settings import load
from agentforge.config.steering_files import OF_A_TASK
from agentforge.config.trust import require_trust
from agentforge.dashboard.board import Board, board_of, show
from agentforge.dashboard.ground import Repository
from agentforge.errors import AgentForgeError, ConflictError, UsageError
from agentforge.events.kinds import Decision
from agentforge.fleet import Ledger, database_url, open_database

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


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
    outcome = board.readings.of(folder).state.progress.outcome
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


_ACTIONS: Mapping[str, Action] = {"resolve": _resolve, "resume": _resume, "interrupt": _interrupt, "abort": _abort}


APPROVALS = (
    ("spec", "the specification", "You see what will be built before a test is written."),
    ("red", "the tests", "You see what the code will be held against."),
    ("deliver", "the delivery", "You see the whole change before there is a branch."),
)
_MODELS_KNOWN = 12


def new_page(request: Request) -> Response:
    """The form for a new task."""
    return _form(request, {})


async def start(request: Request) -> Response:
    """Create the task of a form and drive it in a process of its own, or put it into the queue; then show it."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import RedirectResponse

    board = board_of(request)
    form = await form_of(request)
    refuse_forged(board, request, form)
    try:
        address = await run_in_threadpool(_started, board, form)
    except AgentForgeError as exc:
        return await run_in_threadpool(_form, request, form, exc)
    return RedirectResponse(address, status_code=303)


def _form(request: Request, given: Form, trouble: AgentForgeError | None = None) -> Response:
    board = board_of(request)
    repositories = [row for row in board.ground.repositories() if row.path.is_dir()]
    chosen = given.get("repo") or request.query_params.get("repo", "")
    return show(
        request,
        "new.html",
        status=200 if trouble is None else 400,
        repositories=repositories,
        chosen=chosen,
        given=defaultdict(str, given),
        trouble=trouble,
        models=_known_models(board),
        usual=_usual_model(board, next((row.path for row in repositories if row.key == chosen), None)),
        approvals=APPROVALS,
    )


def _started(board: Board, form: Form) -> str:
    """The address of the task that was created."""
    text = form.get("request", "").replace("\r\n", "\n").strip()
    if not text:
        raise UsageError("the request is empty", hint="say in a sentence or more what should change")
    repository = board.ground.find(form.get("repo", ""))
    environ = merged_environment(board.environ, cwd=repository.path)
    for top in project_tops(repository.path, environ):
        require_trust(top, environ, kinds=OF_A_TASK)
    settings = load(repository.path, environ)
    options = StartOptions(
        request=text,
        cwd=repository.path,
        model=form.get("model", "").strip() or None,
        approve=tuple(name for name, _, _ in APPROVALS if form.get(f"approve_{name}")),
        limits=_limits(form),
        include_dirty=bool(form.get("dirty")),
    )
    with ExitStack() as stack:
        queue = form.get("queue") and Ledger(open_database(database_url(settings, environ)))
        if queue:
            stack.callback(queue.close)
        made = create(options, settings=settings, environ=environ, watch=lambda _event, _state: None)
        if queue:
            queue.add(Path(made.state.identity.repo), made.state.identity.run_id)
        else:
            board.children.resume(repository.path, made.folder)
    board.ground.look_again()
    return f"/t/{repository.key}/{made.folder.name}"


def _limits(form: Form) -> dict[str, int | float | None]:
    text = form.get("budget_usd", "").strip()
    if not text:
        return {}
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e6:
        raise UsageError(
            f"{text!r} is not an amount of money", hint="write US dollars, such as 2.50, or leave it empty"
        )
    return {"budget_usd": value}


def _usual_model(board: Board, repo: Path | None) -> str:
    """The model that answers where none is named; "" where there is none, or no repository was chosen yet."""
    paths = [repo] if repo else [row.path for row in board.ground.repositories() if row.path.is_dir()][:1]
    for path in paths:
        try:
            environ = merged_environment(board.environ, cwd=path)
            spec = explain(load(path, environ), environ).spec
            return f"{spec.provider}/{spec.name}"
        except AgentForgeError:
            return ""
    return ""


def _known_models(board: Board) -> list[str]:
    """Models that answered in the tasks so far, the latest first."""
    found: dict[str, Any] = {}
    for task in board.ground.tasks():
        for spent in task.get("spending", ()):
            found.setdefault(str(spent["model"]))
        if len(found) >= _MODELS_KNOWN:
            break
    return list(found)
