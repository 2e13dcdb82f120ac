"""The commands that answer what a run asks: the same words on the screen and in messages."""

from __future__ import annotations

from agentforge.events.kinds.choices import Choice, choices_of
from agentforge.events.state.run_state import Escalation


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
