"""The words and forms that all views share: how a run stands, times to the second, money that may be unknown.

The commands that answer what a run asks: the same words on the screen and in messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentforge.events.kinds.choices import Choice, choices_of
from agentforge.events.state.run_state import Escalation, RunState, Totals


def seconds(at: str) -> str | None:
    """A record's time stamp to the second, e.g. `2025-12-31T10:00:05Z`; None for no time."""
    return f"{at[:19]}Z" if at else None


def standing(state: RunState, *, interrupted: bool) -> str:
    """How the run stands: delivered, analyzed, failed, aborted, escalated, waiting, paused or running.

    Args:
        interrupted: the last thing recorded is that the driving process stopped.
    """
    if state.progress.outcome:
        return state.progress.outcome
    if state.people.open_escalations:
        return "escalated"
    if state.relations.waits_for:
        return "waiting"
    return "paused" if interrupted else "running"


def cost_usd(totals: Totals) -> float | None:
    """The run's cost in USD, None when the price of a call is unknown."""
    return round(totals.cost_usd, 6) if totals.cost_known else None


def answers_for(item: Escalation, *, task_id: str) -> list[str]:
    """The commands that settle an escalation, one for each choice."""
    return [command_of(choice, item, task_id=task_id) for choice in choices_of(item)]


def command_of(choice: Choice, item: Escalation, *, task_id: str) -> str:
    """The exact command that takes a choice; capital letters stand for what the person says."""
    if choice.decision == "abort":
        return f"agentforge abort {task_id}"
    if choice.limit:
        return f"agentforge resume {task_id} --{choice.limit} +N"
    resolve = f"agentforge resolve {task_id}.{item.escalation_id}"
    if choice.reopen:
        return f'{resolve} --reopen {choice.reopen} --answer "TEXT" --resume'
    if choice.decision == "answer":
        return f'{resolve} --answer "{choice.text or "TEXT"}" --resume'
    words = ' "REASON"' if choice.words else ""
    return f"{resolve} --{choice.decision}{words} --resume"


def choice_lines(item: Escalation, *, task_id: str) -> list[str]:
    """The choices as people read them: number, name, what happens, and below it the command."""
    lines = []
    for number, choice in enumerate(choices_of(item), start=1):
        lines += [
            f"{number}. {choice.label.rstrip('.')}: {choice.then}",
            f"     {command_of(choice, item, task_id=task_id)}",
        ]
    return lines


def choice_values(item: Escalation, *, task_id: str) -> list[dict[str, object]]:
    """The choices as programs read them: what is recorded, what happens next, and the command."""
    return [{**choice.value, "command": command_of(choice, item, task_id=task_id)} for choice in choices_of(item)]


def rows_of(value: object) -> list[Mapping[str, Any]]:
    """The mappings of a list, and nothing else: an artifact may hold anything."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []


def texts_of(value: object) -> list[str]:
    """The items of a list as texts; none where it is no list."""
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
