"""Metrics over summaries: what counts as a task."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.history.measures import active_seconds, metrics_of, weekly, whole_tasks

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


@pytest.mark.parametrize(
    ("asked", "answered", "seconds"),
    [
        ("2026-11-20T10:00:00Z", "2026-11-20T10:05:00Z", 300),  # a Friday
        ("2026-11-20T10:00:00Z", "2026-11-20T12:00:00Z", 7_200),
        ("2026-11-20T17:00:00Z", "2026-11-23T09:00:00Z", 7_200),  # over the weekend: an hour on either side
        ("2026-11-20T20:00:00Z", "2026-11-23T07:00:00Z", 900),  # nobody worked in between
        ("2026-11-21T22:00:00Z", "2026-11-21T22:04:00Z", 240),  # a Saturday night, but somebody was there
        ("2026-11-16T08:00:00Z", "2026-11-21T08:00:00Z", 5 * 36_000),
        ("2026-11-20T10:00:00Z", "2026-11-20T09:00:00Z", 0),  # the clock was set back
    ],
)
def test_nights_and_weekends_are_no_time_of_a_person(asked: str, answered: str, seconds: float) -> None:
    assert active_seconds(asked, answered, zone=UTC) == seconds


def test_waiting_by_the_clock_is_told_beside_the_time_of_a_person() -> None:
    task = {
        **_summary("task-x"),
        "escalations": [("question", "2026-11-20T12:00:00+00:00", "2026-11-27T12:00:00+00:00")],
    }
    work = metrics_of([task])["productivity"]
    assert work["human_wait_seconds_per_task"] == 7 * 86_400
    assert work["human_seconds_per_task"] == 5 * 36_000


def _asked(task_id: str, *spans: tuple[str, str], kind: str = "question", **changed: Any) -> dict[str, Any]:
    return {**_summary(task_id, outcome="delivered"), "escalations": [[kind, *span] for span in spans], **changed}


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
