"""Who may sit at the other end of a test's conversation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.person import Nobody, Question, Reply
from agentforge.events.kinds import Event, ModelCalled
from agentforge.events.state.run_state import RunState
from agentforge.store.log.reader import read

Open = Callable[..., Chat]
"""(script, person=Nobody(), cwd=project, **what ChatOptions takes) -> an open session; it is closed after the test."""


class Watching(Nobody):
    """Nobody to ask, but somebody who watches the children."""

    def __init__(self, watch: Callable[[str, Event, RunState], None]) -> None:
        super().__init__()
        self.child_heard = watch


class Asked:
    """A person who answers every question the same, and remembers the questions.

    Args:
        words: what they say with a rejection, and to a question of the model.
    """

    def __init__(self, decision: Any, *, words: str = "") -> None:
        self.questions: list[Question] = []
        self._decision = decision
        self._words = words

    def approve(self, question: Question) -> Reply | None:
        self.questions.append(question)
        return Reply(decision=self._decision, text=self._words)

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        return self._words or None

    def heard(self, event: Event, state: RunState) -> None:
        return None

    def delta(self, text: str) -> None:
        return None


def requests_of(chat: Chat) -> list[dict[str, Any]]:
    """The requests that went to the model so far, as they were recorded: {messages, tools, ...}."""
    events = (record.event for record in read(chat.log.folder))
    return [json.loads(chat.log.blobs.get(one.request)) for one in events if isinstance(one, ModelCalled)]


def texts_of(request: dict[str, Any]) -> list[tuple[str, str]]:
    """The messages of a request as (role, text)."""
    return [(one["role"], "".join(part["text"] for part in one["parts"])) for one in request["messages"]]
