"""`agentforge cost`: tokens and money."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from agentforge.app.history import costs as costing
from agentforge.app.sessions.display import cost_text
from agentforge.cli.output.overview import tell_damaged
from agentforge.cli.output.terminal import cut, printable, style_for, table
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import UsageError

_HEAD = ("CALLS", "PROMPT", "CACHED", "COMPLETION", "USD")


@click.command(
    epilog="""\b
Examples:
  agentforge cost task-20261121-slugify
  agentforge cost --all --json
"""
)
@click.argument("task_id", metavar="[ID]", required=False)
@click.option("--all", "everything", is_flag=True, help="All tasks of the repository.")
@cwd_option
@json_option
def cost(task_id: str | None, everything: bool, cwd: str | None, as_json: bool) -> int:
    """Show what task ID cost by stage, attempt and model.

    The column PROMPT leaves out the cached tokens, which have a column of their own.
    """
    if (task_id is None) != everything:
        raise UsageError("name one task, or pass --all", hint="agentforge cost ID, or agentforge cost --all")
    place = open_place(cwd)
    value = costing.cost_of_task(place.cwd, task_id) if task_id is not None else costing.cost_of_all(place.cwd)
    if as_json:
        write_json(value)
    else:
        click.echo("\n".join(_of_task(value) if task_id is not None else _of_all(value)))
    rows = value.get("tasks", ())
    return tell_damaged((row["task_id"], row["outcome"], row["error"], row["cause"]) for row in rows)


def _of_task(value: Mapping[str, Any]) -> list[str]:
    rows = [(f"{row['stage']} {row['attempt']}", row) for row in value["by_attempt"]]
    rows += [(row["model"], row) for row in value["by_model"]]
    rows += [(f"{sort} {row['task_id']}", row) for sort in ("subagent", "attempt") for row in value[f"{sort}s"]]
    lines = _table("STAGE, ATTEMPT; MODEL", [*rows, ("total", value["total"])])
    if value["inherited"]:
        paid = value["inherited"]
        lines.append(f"{paid['calls']} calls before the fork were paid by {paid['from']}: {_money(paid)}")
    return [*lines, *_unpriced(value["unpriced_models"])]


def _of_all(value: Mapping[str, Any]) -> list[str]:
    if not value["tasks"]:
        return ['no tasks yet; begin with: agentforge start "..."']
    rows = [(row["task_id"], row) for row in value["tasks"]]
    rows += [(row["model"], row) for row in value["by_model"]]
    return [
        *_table("TASK; MODEL", [*rows, ("total", value["total"])]),
        *_unpriced([row["model"] for row in value["by_model"] if row["unpriced"]]),
    ]


def _table(what: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    cells = [
        (
            f"{row['calls']:>6,}",
            f"{row['prompt_tokens'] - row['cached_tokens']:>11,}",
            f"{row['cached_tokens']:>11,}",
            f"{row['completion_tokens']:>11,}",
            f"{_money(row):>12}",
            cut(printable(name), 60),
        )
        for name, row in rows
    ]
    head = (f"{_HEAD[0]:>6}", *(f"{name:>11}" for name in _HEAD[1:4]), f"{_HEAD[4]:>12}", what)
    return table(cells, head=head, style=style_for(sys.stdout, {}))


def _money(row: Mapping[str, Any]) -> str:
    if not row["calls"]:
        return "-"
    return cost_text(row["cost_usd"], known=not row["unpriced"]).replace("cost unknown", "unknown")


def _unpriced(models: Sequence[str]) -> list[str]:
    return [f"no price is known for {', '.join(models)}: these calls count as nothing"] if models else []
