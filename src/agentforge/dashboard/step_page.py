"""One step of a task: what the model was shown, what it said and did, what that changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentforge.app.history.inspection import inspect_value
from agentforge.app.sessions.display import output_of
from agentforge.dashboard.board import board_of, show
from agentforge.dashboard.diffs import diff_files
from agentforge.dashboard.page_templates import pieces
from agentforge.dashboard.run_index import number_of
from agentforge.dashboard.task_pages import LONGEST_DIFF, head_of
from agentforge.errors import IntegrityError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_LONGEST_TEXT = 60_000

Row = Mapping[str, Any]


def step_page(request: Request) -> Response:
    """One step: what came back, what it did, what it changed, what was sent."""
    board, asked = board_of(request), request.path_params
    folder = board.ground.task_folder(asked["repo"], asked["task"])
    number = number_of(asked["step"])
    actions: Any = inspect_value(folder, step=number, show="action")
    contexts, unseen = _if_there(lambda: inspect_value(folder, step=number, show="context"))
    diffs, unread = _if_there(lambda: inspect_value(folder, step=number, show="diff"))
    reading = board.readings.of(folder)
    with reading.lock:
        head = head_of(request, reading)
        span = next((one for one in reading.timeline.steps if one.number == number), None)
        seconds = None if span is None else reading.timeline.at_work_s(span.begun, span.ended)
    return show(
        request,
        "task_step.html",
        tab="steps",
        step=number,
        span=span,
        seconds=seconds,
        said_by_model=_said(actions),
        calls=_calls(actions),
        own_records=[_shortened(row) for row in actions],
        contexts=contexts,
        files=[file for row in diffs for file in diff_files(row["patch"][:LONGEST_DIFF])],
        troubles=list(dict.fromkeys(filter(None, (unseen, unread)))),
        **head,
    )


def _if_there(look: Callable[[], object]) -> tuple[Any, str]:
    """What a look gives, and ""; nothing, and why, where its blobs are gone: the records of the step are shown all the same."""
    try:
        return look(), ""
    except IntegrityError as exc:
        return [], str(exc)


def _said(actions: Sequence[Row]) -> list[dict[str, Any]]:
    """The replies of the step, as a rule one: what was said, what was thought; or why there was none."""
    told: list[dict[str, Any]] = []
    for row in actions:
        data = row["data"]
        if row["type"] == "ModelReplied":
            told.append(
                {"pieces": pieces(str(data["text"])), "thinking": str(data.get("thinking") or ""), "failed": ""}
            )
        elif row["type"] == "ModelFailed":
            told.append({"pieces": [], "thinking": "", "failed": f"{data['slug']}: {data['message']}"})
    return told


def _calls(actions: Sequence[Row]) -> list[dict[str, Any]]:
    """The calls of tools: arguments as they were parsed, and what came back."""
    calls: dict[object, dict[str, Any]] = {}
    for row in actions:
        data = row["data"]
        if row["type"] not in ("ToolStarted", "ToolFinished"):
            continue
        call = calls.setdefault(
            data["index"],
            {"name": data["name"], "arguments": {}, "status": "", "summary": "it did not end", "output": ""},
        )
        if row["type"] == "ToolStarted":
            call["arguments"] = data["arguments"]
        else:
            output = output_of(str(data.get("text") or ""))[:_LONGEST_TEXT]
            call |= {"status": data["status"], "summary": data["summary"], "output": output}
    return list(calls.values())


def _shortened(row: Row) -> dict[str, str]:
    text = json.dumps(row["data"], indent=2, ensure_ascii=False)
    left = len(text) - _LONGEST_TEXT
    more = f"\n... {left} more characters; see agentforge inspect" if left > 0 else ""
    return {"kind": row["type"], "at": row["at"], "text": text[:_LONGEST_TEXT] + more}
