"""What the person says and switches while a turn goes on: laid down in any thread, read between two steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING

from agentforge.app.sessions.mentions import mentioned
from agentforge.errors import AgentForgeError
from agentforge.events import kinds
from agentforge.safety.text.redaction import redact

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat

Message = tuple[str, tuple[str, ...]]
"""Words, and the notes that go with them (long pastes)."""


class Inbox:
    """Messages and switches that wait for the next step of the turn.

    Attributes:
        refused: messages that could not be handed over, each with the reason; they stay with the person.
    """

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._lock = Lock()
        self._said: deque[Message] = deque()
        self._switched: dict[str, object] = {}
        self.refused: list[tuple[Message, AgentForgeError]] = []

    def say(self, text: str, notes: tuple[str, ...] = ()) -> None:
        """Lay down a message for the model."""
        with self._lock:
            self._said.append((text, notes))

    def switch(self, changes: Mapping[str, object]) -> None:
        """Lay down what is to hold from the next step on."""
        with self._lock:
            self._switched.update(changes)

    def taken_back(self) -> list[Message]:
        """The messages that nobody has read yet; they are not handed over any more."""
        with self._lock:
            left, self._said = list(self._said), deque()
        return left

    def switches(self) -> tuple[kinds.Event, ...]:
        """What was switched since this was asked last."""
        with self._lock:
            changes, self._switched = self._switched, {}
        return (kinds.SessionChanged(changes=changes),) if changes else ()

    def events(self) -> tuple[kinds.Event, ...]:
        """Everything that was laid down, as it is recorded. Runs where the turn runs."""
        said = [self._event(message) for message in self.taken_back()]
        return (*self.switches(), *(event for event in said if event is not None))

    def _event(self, message: Message) -> kinds.UserSteered | None:
        """A message with the files that it names; None where it does not fit, for nothing of it is ever shortened."""
        text, notes = message
        workshop = self._chat.workshop
        try:
            found = mentioned(self._chat, text)
            plain, *more = (redact(part, secrets=workshop.secrets).text for part in (text, *notes, *found.notes))
            workshop.sizing.check_room(plain, *more)
        except AgentForgeError as error:
            self.refused.append((message, error))
            return None
        return kinds.UserSteered(
            text=plain, notes=tuple(more), sources=found.sources, pictures=self._chat.kept(found.pictures)
        )
