"""One message to people: what happened, what is asked, and the exact command or link that answers it."""

from __future__ import annotations

from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyMessage:
    """What a notifier sends.

    Attributes:
        message_id: the same for the same matter, so that a receiver can tell a repetition.
        task_id: "" in a digest of several tasks.
        about: "E1", "delivered", "failed", "test" or "digest".
        notice: "first", "reminder" or "deadline".
        text: everything below the title, lines for people.
        commands: that answer it, the first is the most likely.
        link: that answers it, "" = none.
    """

    message_id: str
    task_id: str
    about: str
    notice: str
    title: str
    text: str
    commands: tuple[str, ...] = ()
    link: str = ""

    @property
    def body(self) -> str:
        """All of it but the title, for a way that knows only text."""
        ways = ["Answer with:", *(f"  {command}" for command in self.commands)] if self.commands else []
        return "\n".join([self.text, *ways, *([f"or here: {self.link}"] if self.link else [])])


def digest_of(messages: list[NotifyMessage]) -> NotifyMessage:
    """Several messages as one; a single one stays as it is."""
    if len(messages) == 1:
        return messages[0]
    parts = [f"{item.title}\n{item.body}" for item in messages]
    again = all(item.notice == "reminder" for item in messages)
    return NotifyMessage(
        message_id="+".join(item.message_id for item in messages),
        task_id="",
        about="digest",
        notice="reminder" if again else "first",
        title=f"AgentForge: {'again: ' if again else ''}{len(messages)} matters",
        text="\n\n".join(parts),
    )
