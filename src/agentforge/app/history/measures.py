"""How the work goes: the success metrics of seed 001 part 10, from the records of all tasks of a repository."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from agentforge.app.composition.task_queries import repository
from agentforge.app.history.working_time import active_seconds
from agentforge.store.tasks.folders import attempt_of, task_summaries

Value = dict[str, Any]

_DONE = ("delivered", "analyzed")
_ENDED = (*_DONE, "failed", "aborted")


def metrics(cwd: Path, *, since: date | None = None) -> Value:
    """Compute the metrics of a repository's tasks; see `metrics_of`."""

    return metrics_of(task_summaries(repository(cwd)), since=since)


def metrics_of(found: Sequence[Value], *, since: date | None = None) -> Value:
    """Compute the metrics of tasks, of one repository or of many.

    A rate is None where nothing was counted. An escalation is a question that nobody had asked for: approvals that the
    user wanted (`--supervised`, `--approve`) are no failure of the pipeline, and are counted apart.

    Args:
        found: what the views say of the tasks (store.tasks.task_summaries).
        since: only tasks that were started on this day (UTC) or later.
    """
    readable = whole_tasks([value for value in found if value["standing"] != "damaged"])
    tasks = [value for value in readable if _recent(value, since)]
    damaged = [value["task_id"] for value in found if value["standing"] == "damaged"]
    return {
        "since": since.isoformat() if since else None,
        "tasks": _counts(tasks),
        "health": _health(tasks),
        "trust": _trust(tasks, damaged=damaged),
        "productivity": _productivity(tasks),
    }


def weekly(found: Sequence[Value]) -> list[Value]:
    """How the tasks that ended went, week by week, oldest first: how many, how many with success, tokens and money.

    A week in which nothing ended stands between two others as zeros; `cost_usd` leaves out calls without a known price.
    """
    ended = [value for value in whole_tasks(found) if value["ended_at"]]
    rows = {week: _empty_week(week) for week in _weeks(value["ended_at"] for value in ended)}
    for value in ended:
        row = rows[_week(date.fromisoformat(value["ended_at"][:10]))]
        row["ended"] += 1
        row["done"] += value["outcome"] in _DONE
        row["escalated"] += any(kind != "approval" for kind, _, _ in value["escalations"])
        row["tokens"] += _tokens(value)
        row["cost_usd"] += sum(spent["cost_usd"] for spent in value["spending"])
    return list(rows.values())


def whole_tasks(found: Sequence[Value]) -> list[Value]:
    """The tasks that somebody asked for: what independent attempts spent is spent by the task that they belong to."""

    spent: dict[tuple[object, str], list[Any]] = {}
    whole: list[Value] = []
    for value in found:
        parent = value.get("parent") or ""
        if attempt_of(value["task_id"], parent):
            spent.setdefault((_place(value), parent), []).extend(value["spending"])
        elif value.get("kind") == "task":
            whole.append(value)
    return [
        {**value, "spending": [*value["spending"], *spent.get((_place(value), value["task_id"]), ())]}
        for value in whole
    ]


def _place(value: Value) -> object:
    """Where a task lies: two repositories may have tasks of one name."""
    folder = value.get("folder")
    return folder.parent if isinstance(folder, Path) else None


def _empty_week(week: str) -> Value:
    return {"week": week, "ended": 0, "done": 0, "escalated": 0, "tokens": 0, "cost_usd": 0.0}


def _recent(value: Mapping[str, Any], since: date | None) -> bool:
    return since is None or value["started_at"][:10] >= since.isoformat()


def _counts(tasks: Sequence[Value]) -> Value:
    standings = [value["standing"] for value in tasks]
    return {"total": len(tasks), **{name: standings.count(name) for name in sorted(set(standings))}}


def _health(tasks: Sequence[Value]) -> Value:
    done = [value for value in tasks if value["outcome"] in _DONE]
    raised = [item for value in tasks for item in value["escalations"]]
    asked = [value for value in tasks if any(kind != "approval" for kind, _, _ in value["escalations"])]
    passed, judged = (sum(value["verdicts"][place] for value in tasks) for place in (0, 1))
    tokens, tokens_done = [_tokens(value) for value in tasks], [_tokens(value) for value in done]
    return {
        "steps_per_task": _mean([value["steps"] for value in done]),
        "escalation_rate": _rate(len(asked), len(tasks)),
        "escalations": {kind: sum(1 for item in raised if item[0] == kind) for kind in sorted({i[0] for i in raised})},
        "verification_pass_rate": _rate(passed, judged),
        "verdicts": {"passed": passed, "judged": judged},
        "tokens_per_success": _mean(tokens_done),
        "all_tokens_per_success": round(sum(tokens) / len(done)) if done else None,
    }


def _tokens(value: Value) -> int:
    """What the task itself asked for; what a fork shares with its parent was asked for by the parent."""
    return sum(row["prompt_tokens"] + row["completion_tokens"] for row in value["spending"])


def _trust(tasks: Sequence[Value], *, damaged: Sequence[str]) -> Value:
    delivered = [value for value in tasks if value["outcome"] == "delivered"]
    return {
        "delivered": len(delivered),
        "rework_rate": _rate(sum(1 for value in delivered if "rework" in value["marks"]), len(delivered)),
        "defect_rate": _rate(sum(1 for value in delivered if "defect" in value["marks"]), len(delivered)),
        "readable_trails": _rate(len(tasks), len(tasks) + len(damaged)),
        "damaged": list(damaged),
    }


def _productivity(tasks: Sequence[Value]) -> Value:
    done = [value for value in tasks if value["outcome"] in _DONE and value["ended_at"]]
    answered = [item for value in tasks for item in value["escalations"] if item[2]]
    waited = [_seconds(raised, resolved) for _, raised, resolved in answered]
    worked = [active_seconds(raised, resolved) for _, raised, resolved in answered]
    return {
        "tasks_per_week": _weeks(value["ended_at"] for value in done),
        "human_seconds_per_task": round(sum(worked) / len(tasks), 1) if tasks else None,
        "human_wait_seconds_per_task": round(sum(waited) / len(tasks), 1) if tasks else None,
        "human_answers": len(answered),
        "waiting_now": sum(1 for value in tasks if value["open_escalations"]),
    }


def _weeks(ends: Iterable[str]) -> dict[str, int]:
    """Tasks that were completed, by ISO week; a week between two others in which nothing was completed stands as 0."""
    from datetime import timedelta

    days = sorted(date.fromisoformat(end[:10]) for end in ends)
    counted: dict[str, int] = {}
    day = days[0] - timedelta(days=days[0].weekday()) if days else date.max
    while days and day <= days[-1]:
        counted[_week(day)] = 0
        day += timedelta(days=7)
    for day in days:
        counted[_week(day)] += 1
    return counted


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02d}"


def _seconds(begin: str, end: str) -> float:
    return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds())


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _mean(values: Sequence[int]) -> float | None:
    return round(sum(values) / len(values), 1) if values else None
