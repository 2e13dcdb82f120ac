"""The end of plan mode: a plan is put to the person, and where they approve it the conversation goes on in build mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat

APPROVE = "Approve and build"
KEEP_PLANNING = "Keep planning"
_QUESTION = "Carry out this plan?"


def put_plan(chat: Chat, plan: str) -> str | None:
    """Put a plan to the person.

    Returns:
        "" = approved; else what they said instead; None = nobody answered.
    Side effects: an approval switches to build mode before the model's next step.
    """
    answer = chat.desk.person.ask(f"{plan}\n\n{_QUESTION}", (APPROVE, KEEP_PLANNING))
    if answer != APPROVE:
        return answer
    chat.inbox.switch({"work_mode": "build"})
    return ""
