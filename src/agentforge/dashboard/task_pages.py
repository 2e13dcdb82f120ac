"""The pages about one task: where it stands, artifacts, changes, verification, steps, the trail."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agentforge.app.composition.run_result import outcome_of
from agentforge.app.history.inspection import inspect_value
from agentforge.app.proof.audit import audit
from agentforge.app.tasks.parts import parts_of
from agentforge.dashboard.board import board_of, show
from agentforge.dashboard.ground import Repository
from agentforge.dashboard.plots import spending_svg
from agentforge.dashboard.reading import number_of
from agentforge.dashboard.rendering import diff_files
from agentforge.dashboard.trail import Filter, line_of, page_of
from agentforge.errors import AgentForgeError, IntegrityError, UsageError
from agentforge.events.kinds.dependencies import part_label
from agentforge.events.state.run_state import StageState
from agentforge.pipeline.plugins.stage_order import names_of
from agentforge.store.log.lease import read_holder
from agentforge.views.artifact_view import artifact_value
from agentforge.views.audit_blocks import Heading
from agentforge.views.audit_document import audit_document
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from agentforge.dashboard.reading import Reading
    from agentforge.events.state.run_state import RunState
    from agentforge.views.audit_blocks import Block

TABS = ("overview", "artifacts", "changes", "verification", "steps", "trail")
_VERIFIED = (
    "What was not shown", "Requirement, test, changed lines", "What was measured", "Verification, stage by stage",
    "Environment", "Digests",
)  # fmt: skip
_LONGEST_DIFF = 600_000
_LONGEST_TEXT = 60_000
_LATEST = 12
_PAGE_STEPS = 60


def task_page(request: Request) -> Response:
    """One tab of a task."""
    board, asked = board_of(request), request.path_params
    folder = board.ground.task_folder(asked["repo"], asked["task"])
    tab = asked.get("tab", "overview")
    if tab not in TABS:
        raise UsageError(f"a task has no page {tab!r}", hint="one of " + ", ".join(TABS))
    reading = board.readings.of(folder)
    with reading.lock:
        values = {**_head(request, reading), **_TABS[tab](request, reading)}
    return show(request, f"task_{tab}.html", tab=tab, **values)


def step_page(request: Request) -> Response:
    """One step: what was sent, what came back, what it changed."""

    board, asked = board_of(request), request.path_params
    folder = board.ground.task_folder(asked["repo"], asked["task"])
    step = number_of(asked["step"])
    actions: Any = inspect_value(folder, step=step, show="action")
    contexts, unseen = _if_there(lambda: inspect_value(folder, step=step, show="context"))
    diffs, unread = _if_there(lambda: inspect_value(folder, step=step, show="diff"))
    reading = board.readings.of(folder)
    with reading.lock:
        head = _head(request, reading)
    files = [file for row in diffs for file in diff_files(row["patch"][:_LONGEST_DIFF])]
    troubles = list(dict.fromkeys(filter(None, (unseen, unread))))
    actions = [_shortened(row) for row in actions]
    values = {"step": step, "actions": actions, "contexts": contexts, "files": files, "troubles": troubles}
    return show(request, "task_step.html", tab="steps", **head, **values)


def _if_there(look: Callable[[], object]) -> tuple[Any, str]:
    """What a look gives, and ""; nothing, and why, where its blobs are gone: the records of the step are shown all the same."""
    try:
        return look(), ""
    except IntegrityError as exc:
        return [], str(exc)


def event_page(request: Request) -> Response:
    """One record of the trail, whole."""
    board, asked = board_of(request), request.path_params
    reading = board.readings.of(board.ground.task_folder(asked["repo"], asked["task"]))
    with reading.lock:
        found = reading.marks[max(0, number_of(asked["seq"]) - 1) :][:1]
        if not found:
            raise UsageError(f"there is no record {asked['seq']}", hint=f"the trail has {len(reading.marks)}")
        ((mark, data),) = reading.data_of(found)
        head = _head(request, reading)
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return show(request, "task_event.html", tab="trail", mark=mark, text=text, **head)


def document_page(request: Request) -> Response:
    """The audit of a task as a file."""
    from starlette.responses import Response as Plain

    board, asked = board_of(request), request.path_params
    folder = board.ground.task_folder(asked["repo"], asked["task"])
    headers = {
        "content-disposition": f'attachment; filename="{folder.name}.html"',
        "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    }
    return Plain(audit(folder, form="html"), media_type="text/html", headers=headers)


def _head(request: Request, reading: Reading) -> dict[str, Any]:
    """What stands above every tab."""

    board, state = board_of(request), reading.state
    running = read_holder(reading.folder).alive
    repository = board.ground.find(request.path_params["repo"])
    standing, queued = outcome_of(state, running=running), ""
    if not state.open_escalations:
        standing, queued = board.ground.standing(reading.folder, standing)
    return {
        "state": state,
        "task_id": reading.folder.name,
        "standing": standing,
        "queued": queued,
        "running": running,
        "repository": repository,
        "base": f"/t/{repository.key}/{reading.folder.name}",
        "records": len(reading.marks),
        "goal": state.artifacts.get("intake", {}).get("goal", ""),
        "complaint": board.children.complaint(reading.folder),
        "tabs": TABS,
    }


def _overview(_request: Request, reading: Reading) -> dict[str, Any]:
    from markupsafe import Markup

    state = reading.state
    latest = [
        {"seq": mark.seq, "at": mark.at, "kind": mark.kind, "line": line_of(data)}
        for mark, data in reading.data_of(reading.marks[-_LATEST:])
    ]
    return {
        "stages": _stages(state),
        "plan": _plan(state),
        "parts": _parts(state),
        "shown": to_approve(state),
        "used": _used(state),
        "latest": latest[::-1],
        "plot": Markup(spending_svg(reading.steps)),  # escaped where it is drawn
        "models": sorted({spent.model for spent in state.spending.values()}),
        "cost": state.totals.cost_usd if state.totals.cost_known else None,
    }


def _plan(state: RunState) -> dict[str, str] | None:
    """The plan that the run is a part of, with its address."""
    plan = state.digests.get("plan")
    if not isinstance(plan, Mapping):
        return None
    return {"repo": part_label(plan), **_address(str(plan.get("path")), str(plan.get("run_id")))}


def _parts(state: RunState) -> list[dict[str, str]]:
    """The tasks that a plan became: where they are and how they stand."""
    if not state.parts:
        return []

    return [
        {"repo": part_label(row), "standing": part.row.outcome, **_address(str(part.path), part.task_id)}
        for part in parts_of(state)
        for row in [{"repo": part.repo, "part": part.name if part.name != part.repo else ""}]
    ]


def _address(path: str, task: str) -> dict[str, str]:
    from pathlib import Path
    from urllib.parse import quote

    return {"task_id": task, "href": f"/t/{Repository(name='', path=Path(path)).key}/{quote(task, safe='')}"}


def to_approve(state: RunState) -> dict[str, Any] | None:
    """The artifact of the current stage as it was judged last; None before that, and when it was accepted."""

    judged = state.verdict.artifact if state.verdict and state.stage not in ("", *state.artifacts) else None
    return artifact_value(judged) if judged else None


def _stages(state: RunState) -> list[dict[str, Any]]:
    """The stages of the workflow in their order, those that are still to come included."""

    names = list(dict.fromkeys((*names_of(state), *state.stages)))
    return [{"name": name, **asdict(state.stages.get(name, StageState()))} for name in names]


def _used(state: RunState) -> list[tuple[str, float, float | None]]:
    """(what, used, limit) of everything that is bounded."""
    totals, limits = state.totals, state.limits
    return [
        ("steps", totals.steps, limits.max_steps),
        ("tokens", totals.prompt_tokens + totals.completion_tokens, limits.budget_tokens),
        ("USD", round(totals.cost_usd, 4), limits.budget_usd),
        ("seconds", round(state.active_s), limits.deadline_s),
    ]


def _artifacts(_request: Request, reading: Reading) -> dict[str, Any]:

    state = reading.state
    shown = [(name, artifact_value(value)) for name, value in state.artifacts.items()]
    return {"artifacts": shown, "draft": to_approve(state)}


def _changes(_request: Request, reading: Reading) -> dict[str, Any]:
    """What the run changed, from its base to the last snapshot."""
    from pathlib import Path

    state = reading.state
    tree = state.trees.get("work")
    if not tree:
        return {"files": [], "cut": False, "trouble": "nothing was changed yet"}
    try:
        git = Git.open(_repository(reading.folder, Path(state.repo)))
        patch = git.diff(git.tree_of(state.base_commit), tree)
    except AgentForgeError as exc:
        return {"files": [], "cut": False, "trouble": str(exc)}
    return {"files": diff_files(patch[:_LONGEST_DIFF]), "cut": len(patch) > _LONGEST_DIFF, "trouble": ""}


def _repository(folder: Path, recorded: Path) -> Path:
    """The repository that the run's folder lies in; it may have been moved since."""
    return folder.parent.parent.parent if folder.parent.name == "tasks" else recorded


def _verification(_request: Request, reading: Reading) -> dict[str, Any]:

    blocks = audit_document({**reading.audit(), "steps": []})
    return {"sections": [section for section in _sections(blocks) if section["title"] in _VERIFIED]}


def _sections(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """The document cut at its headings of level 2."""

    sections: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2:
            sections.append({"title": block.text, "blocks": []})
        elif sections:
            sections[-1]["blocks"].append({"kind": type(block).__name__.lower(), "block": block})
    return sections


def _steps(request: Request, reading: Reading) -> dict[str, Any]:
    steps = reading.steps[::-1]
    pages = max(1, -(-len(steps) // _PAGE_STEPS))
    number = min(max(1, number_of(request.query_params.get("page"))), pages)
    shown = steps[(number - 1) * _PAGE_STEPS : number * _PAGE_STEPS]
    return {"steps": shown, "number": number, "pages": pages, "total": len(steps)}


def _trail(request: Request, reading: Reading) -> dict[str, Any]:
    from urllib.parse import urlencode

    asked = request.query_params
    given = {name: asked.get(name, "").strip() for name in ("kind", "stage", "step", "q", "order")}
    wanted = Filter(
        kind=given["kind"],
        stage=given["stage"],
        step=number_of(given["step"]) if given["step"] else None,
        words=given["q"],
        newest_first=given["order"] == "newest",
    )
    return {
        "trail": page_of(reading, wanted, number=number_of(asked.get("page"))),
        "given": given,
        "kinds": sorted({mark.kind for mark in reading.marks}),
        "stage_names": sorted({mark.stage for mark in reading.marks} - {""}),
        "query": urlencode({name: value for name, value in given.items() if value}),
    }


def _shortened(row: Mapping[str, Any]) -> dict[str, str]:
    text = json.dumps(row["data"], indent=2, ensure_ascii=False)
    more = (
        f"\n... {len(text) - _LONGEST_TEXT} more characters; see agentforge inspect"
        if len(text) > _LONGEST_TEXT
        else ""
    )
    return {"kind": row["type"], "at": row["at"], "text": text[:_LONGEST_TEXT] + more}


_TABS: Mapping[str, Callable[[Request, Reading], dict[str, Any]]] = {
    "overview": _overview,
    "artifacts": _artifacts,
    "changes": _changes,
    "verification": _verification,
    "steps": _steps,
    "trail": _trail,
}
