"""The driver: decide, perform, record, until nothing is left to do. The only loop in the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState

EffectT = TypeVar("EffectT")


class Log(Protocol):
    """The durable log of a run: appending an event also folds it into `state`."""

    @property
    def state(self) -> RunState:
        """The fold of everything appended so far."""

    def append(self, event: Event) -> None:
        """Make the event durable, then fold it."""


def drive(
    log: Log, decide: Callable[[RunState], EffectT | None], perform: Callable[[EffectT, RunState], Iterable[Event]]
) -> RunState:
    """Drive a run until `decide` returns nothing.

    `perform` is a generator: what it yields is durable before it goes on, so an intent that it yields first is on disk before
    the effect takes place.
    """
    while (effect := decide(log.state)) is not None:
        for event in perform(effect, log.state):
            log.append(event)
    return log.state
