"""Between the engine's thread and the screen: what happens is queued here, and what is asked waits here for its answer."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Generic, TypeVar, cast

from agentforge.app.sessions.person import Question, Reply
from agentforge.cancellation import interruptible
from agentforge.events.kinds.event import Event
from agentforge.events.state.run_state import RunState

T = TypeVar("T")


class Asked(Generic[T]):
    """Something that the engine waits for. The screen calls `answer` once; None = no answer."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._value: T | None = None
        self.open = True

    def answer(self, value: T | None) -> None:
        """Let the engine go on."""
        if self.open:
            self._value, self.open = value, False
            self._done.set()

    def wait(self) -> T | None:
        """Block until it was answered.

        Raises:
            KeyboardInterrupt: the turn was stopped meanwhile.
        """
        try:
            with interruptible(self._done.set):
                self._done.wait()
        finally:
            self.open = False
        return self._value


class AskedApproval(Asked[Reply]):
    """A call that somebody has to agree to."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question


class AskedQuestion(Asked[str]):
    """A question of the model."""

    def __init__(self, question: str, options: tuple[str, ...]) -> None:
        super().__init__()
        self.question = question
        self.options = options


class Happened:
    """A recorded event, the state after it, and what a file tool is about to change (a diff)."""

    __slots__ = ("diff", "event", "state")

    def __init__(self, event: Event, state: RunState, diff: str = "") -> None:
        self.event = event
        self.state = state
        self.diff = diff


class Wrote:
    """What a command writes while it runs: whole lines."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Thought:
    """A piece of what the model thinks."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class ChildHeard:
    """What a subagent recorded."""

    __slots__ = ("child", "event", "tokens")

    def __init__(self, child: str, event: Event, tokens: int) -> None:
        self.child = child
        self.event = event
        self.tokens = tokens


class Link:
    """The person as the engine sees them. Every method but `taken` and `attach` runs in the engine's threads.

    Attributes:
        moves_commands: they can send a command that runs to the background.
    Args:
        change_of: what a call is about to change; asked while the files are still as they were.
    """

    moves_commands = True

    def __init__(self, change_of: Callable[[Event], str]) -> None:
        self._change_of = change_of
        self._items: deque[object] = deque()
        self._wake: Callable[[], None] | None = None
        self._woken = False
        self.before: Callable[[Event], None] = lambda _event: None

    def attach(self, wake: Callable[[], None]) -> None:
        """Have `wake` called (in any thread) when there is something to take; not again before it was taken."""
        self._wake = wake
        if self._items:
            self.put_wake()

    def taken(self) -> list[object]:
        """Everything since the last time, in order; pieces of text, or of thinking, that follow each other are joined."""
        self._woken = False
        taken: list[object] = []
        while self._items:
            taken.append(self._items.popleft())
        joined: list[object] = []
        for kind, items in groupby(taken, type):
            if kind is str:
                joined.append("".join(cast("Iterable[str]", items)))
            elif kind is Thought:
                joined.append(Thought("".join(item.text for item in cast("Iterable[Thought]", items))))
            else:
                joined += items
        return joined

    def put(self, item: object) -> None:
        """Queue something for the screen."""
        self._items.append(item)
        if not self._woken:
            self.put_wake()

    def put_wake(self) -> None:
        """Tell the screen that something is there."""
        if self._wake is not None:
            self._woken = True
            self._wake()

    def approve(self, question: Question) -> Reply | None:
        """Put a call to the person and wait."""
        asked = AskedApproval(question)
        self.put(asked)
        return asked.wait()

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        """Put a question of the model to the person and wait."""
        asked = AskedQuestion(question, options)
        self.put(asked)
        return asked.wait()

    def heard(self, event: Event, state: RunState) -> None:
        """Queue a recorded event."""
        self.before(event)
        self.put(Happened(event, state, self._change_of(event)))

    def child_heard(self, name: str, event: Event, state: RunState) -> None:
        """Queue what a subagent recorded."""
        del name
        totals = state.usage.totals
        self.put(ChildHeard(state.identity.run_id, event, totals.prompt_tokens + totals.completion_tokens))

    def delta(self, text: str) -> None:
        """Queue a piece of text."""
        self.put(text)

    def thought(self, text: str) -> None:
        """Queue a piece of what the model thinks."""
        self.put(Thought(text))

    def output(self, text: str) -> None:
        """Queue lines that a running command wrote."""
        self.put(Wrote(text))
