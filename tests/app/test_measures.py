"""Metrics over summaries: what counts as a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentforge.app.history.measures import metrics_of, weekly, whole_tasks

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


def _asked(task_id: str, *spans: tuple[str, str], kind: str = "question", **changed: Any) -> dict[str, Any]:
    return {**_summary(task_id, outcome="delivered"), "escalations": [[kind, *span] for span in spans], **changed}


def test_a_weekend_is_no_human_time_and_one_sitting_counts_once() -> None:
    weekend = _asked("task-a", ("2026-11-20T17:00:00Z", "2026-11-23T09:00:00Z"))
    quick = _asked("task-b", ("2026-11-21T10:00:00Z", "2026-11-21T10:01:00Z"))
    sitting = _asked(
        "task-c", ("2026-11-20T17:00:00Z", "2026-11-23T09:05:00Z"), ("2026-11-24T10:00:00Z", ""), kind="approval"
    )
    work = metrics_of([weekend, quick, sitting])["productivity"]
    assert work["human_seconds_per_task"] == (600 + 60 + 300) / 3
    assert work["waited_seconds_per_task"] > 40 * 3600
    assert work["human_answers"] == 3


def test_repositories_at_once_are_those_under_way_at_the_same_time() -> None:
    def one(repo: str, begin: str, end: str) -> dict[str, Any]:
        day = "2026-11-21T"
        return {**_summary("task-x"), "folder": Path(repo) / "task-x", "started_at": day + begin, "ended_at": day + end}

    found = [
        one("/a", "10:00:00Z", "11:00:00Z"),
        one("/a", "10:30:00Z", "12:00:00Z"),
        one("/b", "11:30:00Z", "13:00:00Z"),
    ]
    later = one("/c", "14:00:00Z", "15:00:00Z")
    work = metrics_of([*found, later])["productivity"]
    assert (work["repositories"], work["repositories_at_once"], work["repositories_under_way"]) == (3, 2, 0)
    open_one = {
        **later,
        "outcome": "",
        "ended_at": "",
        "last_at": "2026-11-21T12:30:00Z",
        "started_at": "2026-11-21T11:45:00Z",
    }
    work = metrics_of([*found, open_one])["productivity"]
    assert (work["repositories_at_once"], work["repositories_under_way"]) == (3, 1)


def test_weeks_have_rates_and_a_week_without_an_end_has_none() -> None:
    first = _asked("task-a", ("2026-11-02T10:00:00Z", "2026-11-02T10:02:00Z"), started_at="2026-11-02T09:00:00Z",
                   ended_at="2026-11-03T09:00:00Z", verdicts=[9, 10])  # fmt: skip
    third = {
        **_summary("task-b", outcome="delivered"),
        "started_at": "2026-11-10T09:00:00Z",
        "ended_at": "2026-11-17T09:00:00Z",
    }
    rows = weekly([first, third])
    assert [row["escalation_rate"] for row in rows] == [1.0, None, 0.0]
    assert [row["verification_pass_rate"] for row in rows] == [0.9, None, 1.0]
    assert [row["human_seconds_per_task"] for row in rows] == [120.0, None, 0.0]
    assert [row["repositories"] for row in rows] == [1, 1, 1], "in the second week something was under way"
