"""The pages about all tasks: the list, what waits for a human, how the work goes, numbers for Prometheus.

The tasks as numbers in the text format of Prometheus, version 0.0.4. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from agentforge.dashboard.board import Board, board_of, show
from agentforge.dashboard.ground import Task
from agentforge.dashboard.overview import why_of
from agentforge.dashboard.run_index import number_of
from agentforge.dashboard.task_pages import to_approve
from agentforge.errors import AgentForgeError
from agentforge.store.tasks.folders import attempt_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


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
        for item in state.people.open_escalations:
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


Labels = tuple[tuple[str, str], ...]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text(tasks: Sequence[Mapping[str, Any]]) -> str:
    """Write the metrics of tasks, as `Ground.tasks` gives them.

    All are gauges: what they count comes from run folders, which `agentforge gc` may remove.
    """
    every = [task for task in tasks if task["standing"] != "damaged"]
    # what an attempt counts is counted by its task, but for money, which each counts alone
    readable = [task for task in every if not attempt_of(task["task_id"], task.get("parent") or "")]
    return "".join(
        (
            _family("agentforge_tasks", "Tasks by repository and state.", _states(tasks)),
            _family("agentforge_escalations_open", "Questions that wait for a human.", _open(readable)),
            _family("agentforge_steps", "Model calls that were answered.", _sums(readable, "steps")),
            _family("agentforge_tokens", "Tokens of the tasks, by kind.", _tokens(readable)),
            _family("agentforge_cost_usd", "Money, of the calls whose price is known.", _cost(every)),
            _family("agentforge_verdicts", "Verdicts on drafts, by result.", _verdicts(readable)),
        )
    )


def _family(name: str, text: str, samples: Iterable[tuple[Labels, float]]) -> str:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
    lines += [f"{name}{{{','.join(_label(*pair) for pair in labels)}}} {value:g}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'


def _states(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    counted = Counter((task["repo_name"], task["standing"]) for task in tasks)
    return [((("repository", repo), ("state", state)), n) for (repo, state), n in sorted(counted.items())]


def _open(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    return _summed((task["repo_name"], "", len(task["open_escalations"])) for task in tasks)


def _sums(tasks: Sequence[Mapping[str, Any]], field: str) -> list[tuple[Labels, float]]:
    return _summed((task["repo_name"], "", task[field]) for task in tasks)


def _tokens(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    kinds = (("prompt", "prompt_tokens"), ("completion", "completion_tokens"))
    return _summed(((task["repo_name"], kind, task[field]) for task in tasks for kind, field in kinds), label="kind")


def _cost(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    return _summed((task["repo_name"], "", spent["cost_usd"]) for task in tasks for spent in task["spending"])


def _verdicts(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    rows = []
    for task in tasks:
        passed, judged = task["verdicts"]
        rows += [(task["repo_name"], "passed", passed), (task["repo_name"], "refused", judged - passed)]
    return _summed(rows, label="result")


def _summed(rows: Iterable[tuple[str, str, float]], *, label: str = "") -> list[tuple[Labels, float]]:
    sums: dict[tuple[str, str], float] = {}
    for repo, kind, value in rows:
        sums[repo, kind] = sums.get((repo, kind), 0) + value
    return [
        ((("repository", repo), *(((label, kind),) if label else ())), value)
        for (repo, kind), value in sorted(sums.items())
    ]
