"""The commands that answer what a run asks: the same words on the screen and in messages."""

from __future__ import annotations

from agentforge.events.state import Escalation

_AFTER_SPEC = ("red", "green", "refactor")


def answers_for(item: Escalation, *, task_id: str) -> list[str]:
    """The commands that settle an escalation."""
    resolve = f"agentforge resolve {task_id}.{item.escalation_id}"
    if item.kind == "approval":
        return [f"{resolve} --approve --resume", f'{resolve} --reject "REASON" --resume']
    if item.kind == "limit":
        name = item.reason.partition(":")[0].replace("_", "-")
        later = [f"agentforge resume {task_id}  (a minute later)"] if name.endswith("per-minute") else []
        return [*later, f"agentforge resume {task_id} --{name} +N", f"agentforge abort {task_id}"]
    again = [f'{resolve} --reopen spec --answer "TEXT" --resume'] if item.stage in _AFTER_SPEC else []
    return [f'{resolve} --answer "TEXT" --resume', *again, f"{resolve} --abort"]
