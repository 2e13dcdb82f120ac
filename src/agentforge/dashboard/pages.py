"""The pages about all tasks: the list, what waits for a human, how the work goes, numbers for Prometheus."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from agentforge.dashboard.board import board_of, show
from agentforge.dashboard.overview import why_of
from agentforge.dashboard.prometheus import CONTENT_TYPE, metrics_text
from agentforge.dashboard.task_pages import to_approve
from agentforge.errors import AgentForgeError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from agentforge.dashboard.board import Board
    from agentforge.dashboard.ground import Task
from agentforge.dashboard.reading import number_of

_PAGE_TASKS = 50
_PAUSED_SHOWN = 20
STATES = (
    "running",
    "escalated",
    "waiting",
    "queued",
    "paused",
    "delivered",
    "analyzed",
    "failed",
    "aborted",
    "attempt",
    "damaged",
)


def tasks_page(request: Request) -> Response:
    """All tasks, with filters and in pages."""
    board, asked = board_of(request), request.query_params
    every = board.ground.tasks()
    wanted = {name: asked.get(name, "").strip() for name in ("q", "state", "repo")}
    found = [task for task in every if _fits(task, wanted)]
    pages = max(1, -(-len(found) // _PAGE_TASKS))
    number = min(max(1, number_of(asked.get("page"))), pages)
    return show(
        request,
        "tasks.html",
        tasks=found[(number - 1) * _PAGE_TASKS : number * _PAGE_TASKS],
        total=len(found),
        all_count=len(every),
        counts=Counter(task["standing"] for task in every),
        states=STATES,
        repositories=board.ground.repositories(),
        troubles=board.ground.troubles,
        wanted=wanted,
        number=number,
        pages=pages,
        query=urlencode({name: value for name, value in wanted.items() if value}),
    )


def waiting_page(request: Request) -> Response:
    """Every question that waits for a human, oldest first; then the tasks that stand still, the latest first."""

    board = board_of(request)
    rows: list[dict[str, Any]] = []
    for task in reversed(board.ground.tasks()):
        if not task.get("open_escalations"):
            continue
        try:
            state = board.readings.of(task["folder"]).state
        except AgentForgeError as exc:  # damaged since the list was made: named there, nothing to answer here
            rows.append({"task": task, "item": None, "error": str(exc), "shown": None})
            continue
        for item in state.open_escalations:
            shown = to_approve(state) if item.kind == "approval" else None
            rows.append({"task": task, "item": item, "error": "", "shown": shown})
    paused = [task for task in board.ground.tasks() if task["standing"] == "paused" and not task["open_escalations"]]
    stopped = [{"task": task, "why": _why(board, task)} for task in paused[:_PAUSED_SHOWN]]
    return show(request, "waiting.html", rows=rows, stopped=stopped, paused_count=len(paused))


def _why(board: Board, task: Task) -> dict[str, str]:
    """Why a task that nobody drives stands still."""
    try:
        reading = board.readings.of(task["folder"])
        with reading.lock:
            return why_of(reading, standing="paused")
    except AgentForgeError as exc:  # damaged since the list was made
        return {"what": str(exc), "then": ""}


def prometheus_page(request: Request) -> Response:
    """The numbers for Prometheus."""
    from starlette.responses import Response as Plain

    return Plain(metrics_text(board_of(request).ground.tasks()), headers={"content-type": CONTENT_TYPE})


def _fits(task: Task, wanted: dict[str, str]) -> bool:
    words = wanted["q"].casefold()
    return (
        wanted["state"] in ("", task["standing"])
        and wanted["repo"] in ("", task["repo"])
        and (not words or words in f"{task['task_id']} {task.get('request', '')}".casefold())
    )
