"""Who may sit at the other end of a test's conversation; tests import it as `agentforge_talking`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.person import Nobody, Question, Reply
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState

Open = Callable[..., Chat]
"""(script, person=Nobody(), cwd=project, **what ChatOptions takes) -> an open session; it is closed after the test."""


class Watching(Nobody):
    """Nobody to ask, but somebody who watches the children."""

    def __init__(self, watch: Callable[[str, Event, RunState], None]) -> None:
        super().__init__()
        self.child_heard = watch


class Asked:
    """A person who answers every question the same, and remembers the questions."""

    def __init__(self, decision: Any) -> None:
        self.questions: list[Question] = []
        self._decision = decision

    def approve(self, question: Question) -> Reply | None:
        self.questions.append(question)
        return Reply(decision=self._decision)

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        return None

    def heard(self, event: Event, state: RunState) -> None:
        return None

    def delta(self, text: str) -> None:
        return None
