"""The page of metrics: what is aimed at and how far it is, over all repositories, with the trend week by week."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from agentforge.app.history.measures import ESCALATION_TARGET, HUMAN_TARGET_S, PASS_TARGET, metrics_of, weekly
from agentforge.dashboard.board import board_of, show
from agentforge.dashboard.ground import Task
from agentforge.dashboard.page_templates import count_text, percent_text, seconds_text
from agentforge.dashboard.plots import trend_svg, weeks_svg

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


_PERIODS = {"30": "the last 30 days", "90": "the last 90 days", "365": "the last year", "": "everything"}
_WEEKS_DRAWN = 26


def measures_page(request: Request) -> Response:
    """How the work goes, in numbers and plots."""
    from markupsafe import Markup

    board, asked = board_of(request), request.query_params
    repo, days = asked.get("repo", ""), asked.get("days", "")
    days = days if days in _PERIODS else ""
    since = (datetime.now(UTC) - timedelta(days=int(days))).date() if days else None
    every = [task for task in reversed(board.ground.tasks()) if since is None or task["started_at"][:10] >= str(since)]
    tasks = [task for task in every if repo in ("", task["repo"])]
    found = metrics_of(tasks)
    weeks = weekly([task for task in tasks if task["standing"] != "damaged"])
    drawn = [(title, Markup(svg)) for title, svg in _plots(weeks[-_WEEKS_DRAWN:])]  # escaped where it is drawn
    return show(
        request,
        "measures.html",
        found=found,
        goals=_goals(found, weeks),
        weeks=weeks[::-1],
        plots=drawn if weeks else [],
        rows=_by_repository(every, board.ground.repositories()) if not repo else [],
        repositories=board.ground.repositories(),
        repo=repo,
        days=days,
        periods=_PERIODS,
    )


def _goals(found: Mapping[str, Any], weeks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The numbers that have a target, and where the last weeks are going."""
    health, work = found["health"], found["productivity"]
    asked, passed, human = health["escalation_rate"], health["verification_pass_rate"], work["human_seconds_per_task"]
    verdicts = health["verdicts"]
    return [
        {
            "name": "Repositories at once",
            "value": str(work["repositories_at_once"]),
            "target": "",
            "held": None,
            "told": f"{work['repositories_under_way']} under way now, {work['repositories']} in all",
            "trend": _trend(weeks, "repositories", str),
        },
        {
            "name": "Escalation rate",
            "value": percent_text(asked),
            "target": f"below {percent_text(ESCALATION_TARGET)}",
            "held": None if asked is None else asked < ESCALATION_TARGET,
            "told": "tasks that had to ask something",
            "trend": _trend(weeks, "escalation_rate", percent_text),
        },
        {
            "name": "Pass rate",
            "value": percent_text(passed),
            "target": f"above {percent_text(PASS_TARGET)}",
            "held": None if passed is None else passed > PASS_TARGET,
            "told": f"{verdicts['passed']} of {verdicts['judged']} verdicts",
            "trend": _trend(weeks, "verification_pass_rate", percent_text),
        },
        {
            "name": "Human time per task",
            "value": seconds_text(human),
            "target": f"below {seconds_text(HUMAN_TARGET_S)}",
            "held": None if human is None else human < HUMAN_TARGET_S,
            "told": f"{seconds_text(work['human_wait_seconds_per_task'])} with nights and weekends",
            "trend": _trend(weeks, "human_seconds_per_task", seconds_text),
        },
    ]


def _trend(weeks: Sequence[Mapping[str, Any]], name: str, shown: Callable[[Any], str]) -> str:
    """The last week against the one before; "" where there are not two with a number."""
    known = [row[name] for row in weeks if row[name] is not None][-2:]
    if len(known) < 2:
        return ""
    before, last = known
    if before == last:
        return f"unchanged from the week before ({shown(last)})"
    return f"{'up' if last > before else 'down'} from {shown(before)} to {shown(last)} in the last week"


def _plots(weeks: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    per_success = [{**row, "per_success": row["tokens"] / row["done"] if row["done"] else None} for row in weeks]
    trends: tuple[tuple[str, str, Callable[[float | None], str], float | None, float | None], ...] = (
        ("Escalation rate", "escalation_rate", percent_text, ESCALATION_TARGET, 1.0),
        ("Pass rate of verdicts", "verification_pass_rate", percent_text, PASS_TARGET, 1.0),
        ("Human time per task", "human_seconds_per_task", seconds_text, HUMAN_TARGET_S, None),
        ("Tokens per successful task", "per_success", count_text, None, None),
    )
    drawn = [
        (title, trend_svg(title, per_success, name=name, shown=shown, target=target, whole=whole))
        for title, name, shown, target, whole in trends
    ]
    return [
        ("Repositories under way", weeks_svg("Repositories under way", weeks, name="repositories")),
        *drawn,
        ("Tasks that ended; solid: with success", weeks_svg("Tasks that ended", weeks, name="ended", part="done")),
        ("Cost", weeks_svg("Cost", weeks, name="cost_usd", unit="$")),
    ]


def _by_repository(tasks: Sequence[Task], repositories: Sequence[Any]) -> list[dict[str, Any]]:
    """The same numbers for each repository that has tasks."""
    rows = []
    for repository in repositories:
        own = [task for task in tasks if task["repo"] == repository.key]
        if own:
            found = metrics_of(own)
            cost = sum(spent["cost_usd"] for task in own for spent in task.get("spending", ()))
            rows.append({"repository": repository, "found": found, "cost_usd": cost})
    return rows
