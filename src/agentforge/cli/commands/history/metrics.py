"""`agentforge metrics`: how the tasks of this repository, or of all, went."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from agentforge.app.history.measures import metrics as compute, metrics_of_all
from agentforge.app.intake.repositories import all_repositories
from agentforge.cli.output.overview import tell_damaged
from agentforge.cli.output.terminal import style_for
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import UsageError
from agentforge.views.plots import bars_svg

_BAR_COLUMNS = 40
_LARGE = 100
"""From here on fractions say nothing."""


class Day(click.DateTime):
    """A day, in UTC."""

    def __init__(self) -> None:
        super().__init__(["%Y-%m-%d"])

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read it; what is none is told with one."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a day such as 2026-11-21", param, ctx)


@click.command(
    epilog="""\b
Examples:
  agentforge metrics
  agentforge metrics --all
  agentforge metrics --since 2026-11-01 --json
  agentforge metrics --plot weeks.svg
"""
)
@click.option("--since", type=Day(), help="Only tasks started on this day (UTC) or later.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Write tasks per week as an SVG file.")
@click.option("--all", "everywhere", is_flag=True, help="Show this repository and all of `agentforge repo list`.")
@cwd_option
@json_option
def metrics(since: datetime | None, plot: str | None, everywhere: bool, cwd: str | None, as_json: bool) -> int:
    """Show steps, escalations, verdicts, tokens, rework, defects, tasks per week and the time that people took."""
    place, day = open_place(cwd), since.date() if since else None
    value = (
        metrics_of_all(
            [row.entry.path for row in all_repositories(place.cwd, place.environ) if not row.problem], since=day
        )
        if everywhere
        else compute(place.cwd, since=day)
    )
    if plot:
        _write_plot(Path(plot), value)
    if as_json:
        write_json(value)
    else:
        click.echo("\n".join(_lines(value)))
    unread = value["trust"]["unread"]
    return tell_damaged((one["task_id"], "damaged", one["error"], one["cause"]) for one in unread)


def _write_plot(path: Path, value: Mapping[str, Any]) -> None:
    try:
        path.write_text(bars_svg("tasks completed per week", value["productivity"]["tasks_per_week"]), "utf-8")
    except OSError as exc:
        raise UsageError(f"{path} cannot be written: {exc.strerror}", hint="name another file") from exc


def _lines(value: Mapping[str, Any]) -> list[str]:
    health, trust, productivity = value["health"], value["trust"], value["productivity"]
    standings = ", ".join(f"{count} {name}" for name, count in value["tasks"].items() if name != "total")
    kinds = ", ".join(f"{count} {name}" for name, count in health["escalations"].items())
    verdicts = health["verdicts"]
    rows = [
        ("tasks", f"{value['tasks']['total']}" + (f" ({standings})" if standings else "")),
        ("steps per completed task", _number(health["steps_per_task"])),
        ("escalation rate", f"{_percent(health['escalation_rate'])}  (target < 5 %)" + (f"  {kinds}" if kinds else "")),
        (
            "verification pass rate",
            f"{_percent(health['verification_pass_rate'])}  (target > 95 %)  {verdicts['passed']} of {verdicts['judged']}",
        ),
        ("tokens per successful task", _number(health["tokens_per_success"])),
        ("  with those of all others", _number(health["all_tokens_per_success"])),
        ("rework rate", f"{_percent(trust['rework_rate'])} of {trust['delivered']} delivered"),
        ("defect rate", f"{_percent(trust['defect_rate'])} of {trust['delivered']} delivered"),
        ("trails that can be read", _percent(trust["readable_trails"])),
        ("human seconds per task", f"{_number(productivity['human_seconds_per_task'])}  (target < 300)"),
        ("  by the clock on the wall", _number(productivity["human_wait_seconds_per_task"])),
        ("waiting for a human now", str(productivity["waiting_now"])),
        ("repositories", f"{productivity['repositories']}, {productivity['repositories_at_once']} at the same time"),
    ]
    weeks = productivity["tasks_per_week"]
    return [*(f"{name:<28}{text}" for name, text in rows), *_bars(weeks)]


def _bars(weeks: Mapping[str, int]) -> list[str]:
    if not weeks:
        return []
    most, mark = max(weeks.values()), "█" if style_for(sys.stdout, {}).unicode else "#"
    bars = (f"  {name}  {mark * max(bool(n), round(_BAR_COLUMNS * n / most))} {n}" for name, n in weeks.items())
    return ["completed per week", *bars]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= _LARGE else f"{value:,}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
