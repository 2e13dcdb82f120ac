"""The pages about one task: where it stands, artifacts, changes, verification, steps, the trail."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentforge.app.composition.run_result import outcome_of
from agentforge.app.proof.audit import audit
from agentforge.dashboard.board import board_of, show
from agentforge.dashboard.diffs import diff_files
from agentforge.dashboard.overview import card_of, overview_values
from agentforge.dashboard.plots import spending_svg
from agentforge.dashboard.run_index import Filter, Reading, number_of, page_of
from agentforge.errors import AgentForgeError, UsageError
from agentforge.events.state.run_state import RunState
from agentforge.store.log.lease import read_holder
from agentforge.views.audit_blocks import Block, Heading
from agentforge.views.audit_document import audit_document
from agentforge.views.run_views import artifact_value
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


TABS = ("overview", "artifacts", "changes", "verification", "steps", "trail")
_VERIFIED = (
    "What was not shown", "Requirement, test, changed lines", "What was measured", "Verification, stage by stage",
    "Environment", "Digests",
)  # fmt: skip
LONGEST_DIFF = 600_000
_PAGE_STEPS = 60
_NO_CHANGES: Mapping[str, Any] = {"files": (), "cut": False, "trouble": "", "base": ""}


def task_page(request: Request) -> Response:
    """One tab of a task."""
    board, asked = board_of(request), request.path_params
    folder = board.ground.task_folder(asked["repo"], asked["task"])
    tab = asked.get("tab", "overview")
    if tab not in TABS:
        raise UsageError(f"a task has no page {tab!r}", hint="one of " + ", ".join(TABS))
    reading = board.readings.of(folder)
    with reading.lock:
        head = head_of(request, reading)
        values = _overview(reading, head) if tab == "overview" else _TABS[tab](request, reading)
    return show(request, f"task_{tab}.html", tab=tab, **head, **values)


def event_page(request: Request) -> Response:
    """One record of the trail, whole."""
    board, asked = board_of(request), request.path_params
    reading = board.readings.of(board.ground.task_folder(asked["repo"], asked["task"]))
    with reading.lock:
        seq = number_of(asked["seq"])
        if not 0 < seq <= len(reading.index):
            raise UsageError(f"there is no record {asked['seq']}", hint=f"the trail has {len(reading.index)}")
        ((mark, at, data),) = reading.data_of((seq,))
        head = head_of(request, reading)
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return show(request, "task_event.html", tab="trail", mark=mark, at=at, text=text, **head)


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


def head_of(request: Request, reading: Reading) -> dict[str, Any]:
    """What stands above every page of a task."""
    board, state = board_of(request), reading.state
    running = read_holder(reading.folder).alive or board.children.drives(reading.folder)
    repository = board.ground.find(request.path_params["repo"])
    standing, queued = outcome_of(state, running=running), ""
    if not state.people.open_escalations:
        standing, queued = board.ground.standing(reading.folder, standing)
    return {
        "state": state,
        "task_id": reading.folder.name,
        "standing": standing,
        "queued": queued,
        "running": running,
        "repository": repository,
        "base": f"/t/{repository.key}/{reading.folder.name}",
        "records": len(reading.index),
        "goal": state.work.artifacts.get("intake", {}).get("goal", ""),
        "complaint": board.children.complaint(reading.folder),
        "tabs": TABS,
    }


def to_approve(state: RunState) -> dict[str, Any] | None:
    """The artifact of the current stage as it was judged last; None before that, and when it was accepted."""
    judged = (
        state.review.verdict.artifact
        if state.review.verdict and state.progress.stage not in ("", *state.work.artifacts)
        else None
    )
    return artifact_value(judged) if judged else None


def _artifacts(_request: Request, reading: Reading) -> dict[str, Any]:
    state = reading.state
    shown = [(name, artifact_value(value)) for name, value in state.work.artifacts.items()]
    return {"artifacts": shown, "draft": to_approve(state)}


def _overview(reading: Reading, head: Mapping[str, Any]) -> dict[str, Any]:
    """The first page; what is to be approved, or was delivered, stands there with its diff."""
    state = reading.state
    values = overview_values(reading, standing=head["standing"], running=head["running"])
    approving = any(item.kind == "approval" for item in state.people.open_escalations)
    draft = (
        state.review.verdict.artifact
        if approving and state.progress.stage == "deliver" and state.review.verdict
        else None
    )
    values["card"] = values["card"] or (card_of(state, draft=draft) if draft else None)
    diff = changes_of(reading) if values["card"] or (approving and state.work.trees.get("work")) else _NO_CHANGES
    return {**values, "shown": to_approve(state), "diff": diff}


def _changes(_request: Request, reading: Reading) -> dict[str, Any]:
    return {"diff": changes_of(reading)}


def changes_of(reading: Reading) -> dict[str, Any]:
    """What the run changed, from its base to the last snapshot: files, whether some were cut off, why there is nothing."""
    state = reading.state
    tree = state.work.trees.get("work")
    if not tree:
        return {**_NO_CHANGES, "trouble": "nothing was changed yet"}
    try:
        git = Git.open(_repository(reading.folder, Path(state.identity.repo)))
        base = git.tree_of(state.identity.base_commit)
        patch = git.diff(base, tree)
    except AgentForgeError as exc:
        return {**_NO_CHANGES, "trouble": str(exc)}

    def content(name: str, after: bool) -> str | None:
        found = git.show(tree if after else base, name)
        return found.decode("utf-8", "replace") if found is not None else None

    files = diff_files(patch[:LONGEST_DIFF], content)
    return {"files": files, "cut": len(patch) > LONGEST_DIFF, "trouble": "", "base": state.identity.base_commit[:12]}


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
    from markupsafe import Markup

    stage, every = request.query_params.get("stage", ""), reading.timeline.steps
    steps = [step for step in every if stage in ("", step.stage)][::-1]
    pages = max(1, -(-len(steps) // _PAGE_STEPS))
    number = min(max(1, number_of(request.query_params.get("page"))), pages)
    shown = [
        {"step": step, "seconds": reading.timeline.at_work_s(step.begun, step.ended)}
        for step in steps[(number - 1) * _PAGE_STEPS : number * _PAGE_STEPS]
    ]
    return {
        "rows": shown,
        "number": number,
        "pages": pages,
        "total": len(steps),
        "stage": stage,
        "stage_names": list(dict.fromkeys(step.stage for step in every)),
        "plot": Markup(spending_svg(every)),  # escaped where it is drawn
    }


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
        "kinds": reading.index.kinds(),
        "stage_names": reading.index.stages(),
        "query": urlencode({name: value for name, value in given.items() if value}),
    }


_TABS: Mapping[str, Callable[[Request, Reading], dict[str, Any]]] = {
    "artifacts": _artifacts,
    "changes": _changes,
    "verification": _verification,
    "steps": _steps,
    "trail": _trail,
}
