"""Metrics over summaries: what counts as a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentforge.app.history.measures import metrics_of, whole_tasks

FOLDER = Path("/r/.agentforge/tasks")


def _summary(task_id: str, *, parent: str = "", outcome: str = "aborted", tokens: int = 100) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "folder": FOLDER / task_id,
        "kind": "task",
        "parent": parent,
        "outcome": outcome,
        "standing": outcome,
        "started_at": "2026-11-21T10:00:00Z",
        "ended_at": "2026-11-21T11:00:00Z",
        "steps": 4,
        "verdicts": [1, 1] if outcome == "delivered" else [0, 2],
        "escalations": [],
        "open_escalations": [],
        "marks": [],
        "spending": [{"prompt_tokens": tokens, "completion_tokens": 0, "cost_usd": 0.5}],
    }


def test_independent_attempts_are_no_tasks_and_what_they_spent_is_their_tasks() -> None:
    found = [_summary("task-x", outcome="delivered"), *(_summary(f"task-x-a{n}", parent="task-x") for n in (1, 2))]
    measured = metrics_of(found)
    assert measured["tasks"] == {"total": 1, "delivered": 1}
    assert measured["health"]["verification_pass_rate"] == 1.0
    assert measured["health"]["tokens_per_success"] == measured["health"]["all_tokens_per_success"] == 300


def test_a_fork_is_a_task_and_one_name_in_two_repositories_are_two() -> None:
    elsewhere = {**_summary("task-x", outcome="delivered"), "folder": Path("/other/tasks/task-x")}
    found = [_summary("task-x-2", parent="task-x"), elsewhere, _summary("task-x-a1", parent="task-x")]
    assert [(value["task_id"], len(value["spending"])) for value in whole_tasks(found)] == [
        ("task-x-2", 1),
        ("task-x", 1),
    ]
