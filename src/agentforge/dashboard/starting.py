"""Starting a task from a page: a request, a repository, a model, and what a person wants to see before it goes on."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentforge.app.tasks.runs import StartOptions, create
from agentforge.config.dotenv import merged_environment
from agentforge.config.model_choice import explain
from agentforge.config.paths import project_tops
from agentforge.config.settings import load
from agentforge.config.steering import OF_A_TASK
from agentforge.config.trust import require_trust
from agentforge.dashboard.acting import form_of, refuse_forged
from agentforge.dashboard.board import board_of, show
from agentforge.errors import AgentForgeError, UsageError
from agentforge.fleet.database import database_url, open_database
from agentforge.fleet.ledger import Ledger

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from agentforge.dashboard.acting import Form
    from agentforge.dashboard.board import Board

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
    queue = Ledger(open_database(database_url(settings, environ))) if form.get("queue") else None
    made = create(options, settings=settings, environ=environ, watch=lambda _event, _state: None)
    if queue is not None:
        queue.add(Path(made.state.repo), made.state.run_id)
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
