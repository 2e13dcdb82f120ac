"""The person at the other end of a conversation, as the engine sees them: asked about calls, and told what happens."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Literal, Protocol

from agentforge.events.kinds import ApprovalAnswered, Event, ModelCalled, ModelReplied
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.safety.policy.suggestion import Suggestion

ONE_QUESTION = Lock()
"""Of a session and all of its subagents one may ask at a time: a person reads one dialog."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call that somebody has to agree to.

    Attributes:
        tool: its name; "" for a question of a hook.
        text: the call for people: the command, the path, the address; secrets redacted.
        reason: why it is asked about.
        diff: what it would change, as a unified diff; "" where it writes no file.
        offers: the narrow rules that "always" would add, with examples.
    """

    tool: str
    text: str
    reason: str
    diff: str = ""
    offers: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the person decided. `text` of a rejection is told to the model; `always` takes all offered rules."""

    decision: Literal["once", "always", "reject"]
    text: str = ""


class Person(Protocol):
    """A face: screen, line by line, editor, or nobody."""

    def approve(self, question: Question) -> Reply | None:
        """Put a call to the person and wait; None = nobody is here."""

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        """Put a question of the model to the person; None = no answer."""

    def heard(self, event: Event, state: RunState) -> None:
        """Told every recorded event."""

    def delta(self, text: str) -> None:
        """Told every piece of text as it streams in."""


class Nobody:
    """Headless: what would be asked is refused, and remembered for the result."""

    def __init__(
        self,
        *,
        heard: Callable[[Event, RunState], None] | None = None,
        delta: Callable[[str], None] | None = None,
        child: Callable[[str, Event, RunState], None] | None = None,
    ) -> None:
        self._heard = heard
        self._delta = delta
        if child is not None:  # a face that watches subagents is told by having this (child_run.Watcher)
            self.child_heard = child

    def approve(self, question: Question) -> Reply | None:
        """Nobody agrees."""
        del question
        return None

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        """Nobody answers."""
        del question, options
        return None

    def heard(self, event: Event, state: RunState) -> None:
        """Pass it on."""
        if self._heard is not None:
            self._heard(event, state)

    def delta(self, text: str) -> None:
        """Pass it on."""
        if self._delta is not None:
            self._delta(text)


class Desk:
    """Between the engine and the person: asks, keeps the answers until they are recorded, remembers rules of "always".

    Attributes:
        rules: texts of the rules that were allowed for the rest of the session.
        begun: the reply that streams in, as far as it came.
    """

    def __init__(self, person: Person, *, step: Callable[[], int]) -> None:
        self.person = person
        self.rules: list[str] = []
        self.begun: list[str] = []
        self._step = step
        self._answers: list[Event] = []
        self._words = ""
        self._absent = isinstance(person, Nobody)

    def delta(self, text: str) -> None:
        """Pass a piece of the reply on, and keep it until the reply is recorded: whoever stops it has read it."""
        self.begun.append(text)
        self.person.delta(text)

    def heard(self, event: Event, _state: RunState) -> None:
        """A reply begins, or is recorded: what came of it before no longer counts."""
        if isinstance(event, ModelCalled | ModelReplied):
            self.begun = []

    @property
    def present(self) -> bool:
        """Whether somebody answered when they were asked last."""
        return not self._absent

    def asks(self, question: Question) -> bool:
        """Put a call to the person; whether it may be made."""
        began = time.monotonic()
        reply = self.person.approve(question)
        self._words = ""
        self._absent = reply is None
        if reply is None:
            return False
        rules = [offer.rule for offer in question.offers] if reply.decision == "always" else []
        self.rules += [rule for rule in rules if rule not in self.rules]
        self._words = reply.text
        self._answers.append(
            ApprovalAnswered(
                step=self._step(),
                tool=question.tool,
                decision=reply.decision,
                text=reply.text,
                rule="; ".join(rules),
                waited_ms=int((time.monotonic() - began) * 1000),
            )
        )
        return reply.decision != "reject"

    def taken(self) -> tuple[Event, ...]:
        """The answers since this was asked last."""
        answers, self._answers = tuple(self._answers), []
        return answers

    def words(self) -> str:
        """What the person said with the last rejection."""
        return self._words
