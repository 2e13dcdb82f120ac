"""How the work goes: autonomy, pass rate and the time of people, from the records of all tasks of a repository.

How many repositories were under way at the same time. Pure.

How long a question kept a person from other things: working hours count, nights and weekends do not. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from agentforge.app.composition.task_queries import repository
from agentforge.store.tasks.folders import attempt_of, task_summaries

Value = dict[str, Any]

ESCALATION_TARGET, PASS_TARGET, HUMAN_TARGET_S = 0.05, 0.95, 300.0
"""What is aimed at: escalations in fewer of the tasks, verdicts passed in more, less human time for a task."""

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
    damaged = [value for value in found if value["standing"] == "damaged"]
    return {
        "since": since.isoformat() if since else None,
        "tasks": _counts(tasks),
        "health": _health(tasks),
        "trust": _trust(tasks, damaged=damaged),
        "productivity": _productivity(tasks),
    }


def metrics_of_all(repos: Sequence[Path], *, since: date | None = None) -> Value:
    """Compute the metrics of the tasks of several repositories together; see `metrics_of`."""
    return metrics_of([value for repo in repos for value in task_summaries(repo)], since=since)


def weekly(found: Sequence[Value]) -> list[Value]:
    """How the tasks that ended went, week by week, oldest first: counts, rates, tokens, money, time of people.

    A week in which nothing ended stands between two others as zeros, its rates as None; `cost_usd` leaves out calls without a
    known price; `repositories` is in how many of them something was under way in the week.
    """
    whole = whole_tasks(found)
    ended = [value for value in whole if value["ended_at"]]
    weeks: dict[str, list[Value]] = {week: [] for week in _weeks(value["ended_at"] for value in ended)}
    for value in ended:
        weeks[_week(date.fromisoformat(value["ended_at"][:10]))].append(value)
    busy = _busy_places(whole)
    return [{"week": week, **_of_week(tasks), "repositories": len(busy.get(week, ()))} for week, tasks in weeks.items()]


def _of_week(tasks: Sequence[Value]) -> Value:
    asked = sum(_has_asked(value) for value in tasks)
    passed, judged = (sum(value["verdicts"][place] for value in tasks) for place in (0, 1))
    worked = [active_seconds(item[1], item[2]) for value in tasks for item in value["escalations"] if item[2]]
    return {
        "ended": len(tasks),
        "done": sum(value["outcome"] in _DONE for value in tasks),
        "escalated": asked,
        "escalation_rate": _rate(asked, len(tasks)),
        "verification_pass_rate": _rate(passed, judged),
        "human_seconds_per_task": round(sum(worked) / len(tasks), 1) if tasks else None,
        "tokens": sum(_tokens(value) for value in tasks),
        "cost_usd": sum((spent["cost_usd"] for value in tasks for spent in value["spending"]), 0.0),
    }


def _busy_places(tasks: Sequence[Value]) -> dict[str, set[object]]:
    """Which repositories had a task under way in each week."""
    busy: dict[str, set[object]] = {}
    for value in tasks:
        day = date.fromisoformat(value["started_at"][:10])
        last = date.fromisoformat((value["ended_at"] or value.get("last_at") or value["started_at"])[:10])
        day -= timedelta(days=day.weekday())
        while day <= last:
            busy.setdefault(_week(day), set()).add(place_of(value))
            day += timedelta(days=7)
    return busy


def whole_tasks(found: Sequence[Value]) -> list[Value]:
    """The tasks that somebody asked for: what independent attempts spent is spent by the task that they belong to."""
    spent: dict[tuple[object, str], list[Any]] = {}
    whole: list[Value] = []
    for value in found:
        parent = value.get("parent") or ""
        if attempt_of(value["task_id"], parent):
            spent.setdefault((place_of(value), parent), []).extend(value["spending"])
        elif value.get("kind") == "task":
            whole.append(value)
    return [
        {**value, "spending": [*value["spending"], *spent.get((place_of(value), value["task_id"]), ())]}
        for value in whole
    ]


def _recent(value: Mapping[str, Any], since: date | None) -> bool:
    return since is None or value["started_at"][:10] >= since.isoformat()


def _counts(tasks: Sequence[Value]) -> Value:
    standings = [value["standing"] for value in tasks]
    return {"total": len(tasks), **{name: standings.count(name) for name in sorted(set(standings))}}


def _health(tasks: Sequence[Value]) -> Value:
    done = [value for value in tasks if value["outcome"] in _DONE]
    raised = [item for value in tasks for item in value["escalations"]]
    asked = [value for value in tasks if _has_asked(value)]
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


def _has_asked(value: Value) -> bool:
    return any(kind != "approval" for kind, _, _ in value["escalations"])


def _tokens(value: Value) -> int:
    """What the task itself asked for; what a fork shares with its parent was asked for by the parent."""
    return sum(row["prompt_tokens"] + row["completion_tokens"] for row in value["spending"])


def _trust(tasks: Sequence[Value], *, damaged: Sequence[Value]) -> Value:
    delivered = [value for value in tasks if value["outcome"] == "delivered"]
    return {
        "delivered": len(delivered),
        "rework_rate": _rate(sum(1 for value in delivered if "rework" in value["marks"]), len(delivered)),
        "defect_rate": _rate(sum(1 for value in delivered if "defect" in value["marks"]), len(delivered)),
        "readable_trails": _rate(len(tasks), len(tasks) + len(damaged)),
        "damaged": [value["task_id"] for value in damaged],
        "unread": [{key: value.get(key, "") for key in ("task_id", "error", "cause")} for value in damaged],
    }


def _productivity(tasks: Sequence[Value]) -> Value:
    done = [value for value in tasks if value["outcome"] in _DONE and value["ended_at"]]
    answered = [item for value in tasks for item in value["escalations"] if item[2]]
    waited = [_seconds(raised, resolved) for _, raised, resolved in answered]
    worked = [active_seconds(raised, resolved) for _, raised, resolved in answered]
    under_way = {place_of(value) for value in tasks if not value["outcome"]}
    return {
        "tasks_per_week": _weeks(value["ended_at"] for value in done),
        "human_seconds_per_task": round(sum(worked) / len(tasks), 1) if tasks else None,
        "human_wait_seconds_per_task": round(sum(waited) / len(tasks), 1) if tasks else None,
        "repositories": len({place_of(value) for value in tasks}),
        "repositories_at_once": most_at_once(tasks),
        "repositories_under_way": len(under_way),
        "human_answers": len(answered),
        "waiting_now": sum(1 for value in tasks if value["open_escalations"]),
    }


def _weeks(ends: Iterable[str]) -> dict[str, int]:
    """Tasks that were completed, by ISO week; a week between two others in which nothing was completed stands as 0."""
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


Span = tuple[float, float]


def most_at_once(found: Sequence[Mapping[str, Any]]) -> int:
    """In how many repositories tasks were under way at the same time, at most; one that did not end lasts to its last record."""
    spans: dict[object, list[Span]] = {}
    for value in found:
        end = value.get("ended_at") or value.get("last_at") or value["started_at"]
        begin = _moment(value["started_at"])
        spans.setdefault(place_of(value), []).append((begin, max(begin, _moment(end))))
    steps = sorted(
        step
        for repository in spans.values()
        for begin, end in _merged(repository)
        for step in ((begin, 0, 1), (end, 1, -1))  # where one ends as another begins, both are under way
    )
    most = now = 0
    for _, _, change in steps:
        now += change
        most = max(most, now)
    return most


def place_of(value: Mapping[str, Any]) -> object:
    """The repository that a task lies in."""
    folder = value.get("folder")
    return getattr(folder, "parent", None)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _moment(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


_FROM, _UNTIL = 8, 18
"""Hours between which people work, on Monday to Friday, where they are."""
_FRIDAY = 4
_AT_HAND_S = 900.0
"""Seconds before an answer in which the one who gave it was at work on it, whatever the hour."""


def active_seconds(asked: str, answered: str, *, zone: tzinfo | None = None) -> float:
    """Seconds of the time between a question and its answer that count as a person's.

    Args:
        asked, answered: ISO 8601 with an offset.
        zone: whose nights are meant; None = this machine's.
    Returns:
        The working hours between the two; at least a quarter of an hour, or all of the time where it was shorter.
    """
    begin, end = (datetime.fromisoformat(at).astimezone(zone) for at in (asked, answered))
    whole = max(0.0, (end - begin).total_seconds())
    return max(min(whole, _AT_HAND_S), _working_seconds(begin, end))


def _working_seconds(begin: datetime, end: datetime) -> float:
    total, day = 0.0, begin.replace(hour=0, minute=0, second=0, microsecond=0)
    while day < end:
        opens, closes = day.replace(hour=_FROM), day.replace(hour=_UNTIL)
        if day.weekday() <= _FRIDAY:
            total += max(0.0, (min(end, closes) - max(begin, opens)).total_seconds())
        day += timedelta(days=1)
    return total
