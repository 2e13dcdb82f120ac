"""The end of plan mode: a plan is put to the person, and where they approve it the conversation goes on in build mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat

APPROVE = "Approve and build"
APPROVE_EDITS = "Approve, and change files without asking"
KEEP_PLANNING = "Keep planning"
_ASKING = ("on-request", "auto-edit")
"""Modes of approval that ask about a change of a file."""
_QUESTION = "Carry out this plan?"


def put_plan(chat: Chat, plan: str) -> str | None:
    """Put a plan to the person.

    Returns:
        "" = approved; else what they said instead; None = nobody answered.
    Side effects: an approval switches to build mode before the model's next step.
    """
    shop = chat.workshop
    approval = shop.setting("approval") or chat.options.approval or shop.settings.text("approval")
    asks = approval in _ASKING
    options = (APPROVE, *((APPROVE_EDITS,) if asks else ()), KEEP_PLANNING)
    answer = chat.desk.person.ask(f"{plan}\n\n{_QUESTION}", options)
    if answer not in (APPROVE, APPROVE_EDITS):
        return answer
    chat.inbox.switch({"work_mode": "build", **({"approval": "on-failure"} if answer == APPROVE_EDITS else {})})
    return ""
