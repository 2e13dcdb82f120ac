"""Looking into a run: every byte is from the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from agentforge.app.history.inspection import inspect_text, inspect_value
from agentforge.errors import UsageError
from agentforge.events import kinds
from agentforge.store.blobs import Blobs

Tell = Callable[..., Path]
REQUEST = {
    "messages": [
        {"role": "system", "parts": [{"text": "You are a stage.", "stable": True}]},
        {"role": "user", "parts": [{"text": "front", "stable": True}, {"text": "tail", "stable": False}]},
    ],
    "tools": [{"name": "edit", "description": "d", "parameters": {"type": "object"}}],
    "max_output_tokens": 100,
    "temperature": None,
}  # fmt: skip


def verdict(attempt: int, *, passed: bool) -> kinds.Event:
    results = ({"rule": "holds", "passed": passed, "message": "" if passed else "it does not hold"},)
    return kinds.StageVerified(
        stage="spec", attempt=attempt, passed=passed, contract="k", contract_digest="", artifact={"n": attempt},
        artifact_digest="d", results=results,
    )  # fmt: skip


LEFT = {"name": "a.py", "lines": "40-95", "level": "named", "tokens": 612, "why": "walk was named"}


@pytest.fixture
def run(repo: Path, tell: Tell) -> Path:
    """Two steps: the first submits what is refused, the second writes and submits what passes."""
    blobs = Blobs(repo / ".agentforge" / "tasks" / "task-20260101-slugify" / "blobs")
    sent = blobs.put(json.dumps(REQUEST).encode())
    patch = blobs.put("+größer\n".encode())
    events: list[kinds.Event] = [kinds.StageStarted(stage="spec", attempt=1)]
    for step in (1, 2):
        call = {"call_id": "c", "name": "edit", "arguments": '{"path": "a.py"}'}
        events += [
            kinds.ModelCalled(
                step=step,
                stage="spec",
                attempt=step,
                model="m",
                request=sent,
                context_tokens=70,
                sections={"frame": 7},
                budget=8000,
                left_out=(LEFT,) if step == 2 else (),
            ),
            kinds.ModelReplied(
                step=step, text="I act.", tool_calls=(call,), finish="stop", usage={"prompt_tokens": 5}, model="m"
            ),
            kinds.ToolStarted(step=step, index=0, call_id="c", name="edit", arguments={}, effect="write"),
            kinds.ArtifactSubmitted(stage="spec", attempt=step, draft={}, by="model", step=step),
            kinds.ToolFinished(
                step=step, index=0, call_id="c", name="edit", status="success", summary="edited", text="ok"
            ),
            kinds.StepFinished(
                step=step, stage="spec", summary="", tree="t" if step == 2 else None, patch=patch if step == 2 else None
            ),
            verdict(step, passed=step == 2),
        ]
    return tell(*events)


def test_a_context_is_the_request_that_was_sent(run: Path) -> None:
    (row,) = inspect_value(run, step=1, show="context")  # type: ignore[misc]
    assert (row["request"], row["tokens"], row["sections"]) == (REQUEST, 70, {"frame": 7})
    text = inspect_text(run, step=1, show="context")
    assert "step 1 to m: 70 of 8000 tokens (frame 7)" in text and "left out" not in text
    assert text.index("front") < text.index("stays the same within the stage", text.index("front")) < text.index("tail")
    assert 'edit: {"type": "object"}' in text


def test_a_context_says_what_it_left_out_and_why(run: Path) -> None:
    assert inspect_text(run, step=2, show="context").splitlines()[-2:] == [
        "----- left out, because there was no room",
        "a.py 40-95: named, 612 tokens: walk was named",
    ]


def test_the_whole_run_is_a_line_for_every_step_and_every_verdict(run: Path) -> None:
    rows: Any = inspect_value(run, step=None, show="steps")
    assert [(row.get("step"), row["attempt"], row.get("passed")) for row in rows] == [
        (1, 1, None),
        (None, 1, False),
        (2, 1, None),
        (None, 2, True),
    ]
    lines = inspect_text(run, step=None, show="steps").splitlines()
    assert lines[0].split() == ["1", "spec", "1", "5", "+", "0"]
    assert [line.split(maxsplit=2)[-1] for line in lines[1::2]] == ["not accepted: it does not hold", "verified"]


def test_actions_are_calls_replies_and_results(run: Path) -> None:
    rows: Any = inspect_value(run, step=1, show="action")
    assert [row["type"] for row in rows] == [
        "ModelCalled",
        "ModelReplied",
        "ToolStarted",
        "ToolFinished",
        "StepFinished",
    ]
    text = inspect_text(run, step=1, show="action")
    assert '-> edit {"path": "a.py"}' in text and "edit: success: edited\nok" in text


@pytest.mark.parametrize(("step", "patches"), [(None, [(2, "+größer\n")]), (1, []), (2, [(2, "+größer\n")])])
def test_a_diff_is_what_a_step_changed(run: Path, step: int | None, patches: list[tuple[int, str]]) -> None:
    rows: Any = inspect_value(run, step=step, show="diff")
    assert [(row["step"], row["patch"]) for row in rows] == patches
    assert inspect_text(run, step=step, show="diff") == (
        "===== step 2\n+größer\n" if patches else "nothing of the kind was recorded"
    )


@pytest.mark.parametrize(("step", "attempts"), [(None, [1, 2]), (1, [1]), (2, [2])])
def test_artifacts_belong_to_the_step_that_submitted_them(run: Path, step: int | None, attempts: list[int]) -> None:
    rows: Any = inspect_value(run, step=step, show="artifact")
    assert [row["attempt"] for row in rows] == attempts
    assert [set(row) for row in rows] == [{"stage", "attempt", "passed", "artifact", "results", "repairs"}] * len(
        attempts
    )


def test_a_refused_artifact_says_why(run: Path) -> None:
    text = inspect_text(run, step=None, show="artifact")
    assert "spec, attempt 1: refused: it does not hold" in text and "spec, attempt 2: verified" in text


def test_a_step_without_a_model_shows_what_was_handed_in(tell: Tell) -> None:
    handed_in = kinds.ArtifactSubmitted(stage="spec", attempt=1, draft={"n": 1}, by="harness", step=1)
    folder = tell(kinds.StageStarted(stage="spec", attempt=1), handed_in, verdict(1, passed=True))
    (row,) = cast("list[Any]", inspect_value(folder, step=1, show="action"))
    assert (row["type"], row["data"]["by"], row["data"]["draft"]) == ("ArtifactSubmitted", "harness", {"n": 1})
    assert "ArtifactSubmitted" in inspect_text(folder, step=1, show="action")


def test_events_are_all_records_with_their_numbers(run: Path) -> None:
    rows: Any = inspect_value(run, step=None, show="events")
    assert [row["seq"] for row in rows] == list(range(rows[0]["seq"], rows[0]["seq"] + 16))
    assert len(inspect_text(run, step=None, show="events").splitlines()) == 16


def test_what_is_not_there_is_refused(run: Path) -> None:
    with pytest.raises(UsageError, match="no step 9") as caught:
        inspect_value(run, step=9, show="action")
    assert "2 steps" in caught.value.hint
    with pytest.raises(UsageError, match="belongs to a step"):
        inspect_value(run, step=None, show="context")
