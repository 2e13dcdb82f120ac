"""Subagent calls of one reply, side by side: every intent is durable before the first of them starts.

What is recorded stays in the order of the reply; what one subagent meets does not touch the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Protocol, TypeVar

from agentforge.agent.effects import RunTool
from agentforge.agent.perform import perform_tool
from agentforge.cancelling import Cancellation, interruptible, under
from agentforge.events.kinds import ToolFinished, ToolStarted

if TYPE_CHECKING:
    from agentforge.agent.perform import AgentSpec
    from agentforge.events.kinds import Event
    from agentforge.events.state import RunState

ResultT = TypeVar("ResultT")
MOST_AT_ONCE = 8


class Births(Protocol):
    """Who keeps account of subagents."""

    def begun(self, state: RunState, index: int) -> Iterable[Event]:
        """The event that a subagent starts for call `index`; nothing when that is recorded already."""

    def ended(self) -> Iterable[Event]:
        """The events of subagents that ended since this was asked last."""


def run_together(
    indices: tuple[int, ...], state: RunState, spec_of: Callable[[int], AgentSpec], births: Births
) -> Iterator[Event]:
    """Carry out subagent calls side by side.

    Args:
        indices: positions in the reply.
        spec_of: what call `index` works with.
    Raises:
        KeyboardInterrupt: the turn was stopped; the subagents are stopped, too, and what they used is recorded.
    """
    in_doubt = state.turn.started
    works: list[Iterator[Event]] = []
    for index in indices:
        work = perform_tool(RunTool(index=index, in_doubt=in_doubt), state, spec_of(index))
        if in_doubt:  # begun by a process that died: it may have died before the subagent was recorded
            yield from births.begun(state, index)
            works.append(work)
            continue
        for event in work:
            if isinstance(event, ToolFinished):  # refused: its result waits for its place in the order
                works.append(iter((event,)))
                break
            yield event
            if isinstance(event, ToolStarted):
                yield from births.begun(state, index)
                works.append(work)
                break
    yield from _all(works, births)


def _all(works: list[Iterator[Event]], births: Births) -> Iterator[Event]:
    """The rest of every call, the results in order."""
    try:
        rest: list[Callable[[], list[Event]]] = [partial(list, work) for work in works]
        for events in side_by_side(rest):
            for event in events:
                if isinstance(event, ToolFinished):
                    yield from births.ended()
                yield event
    except KeyboardInterrupt:
        yield from births.ended()
        raise


def side_by_side(works: Sequence[Callable[[], ResultT]]) -> Iterator[ResultT]:
    """Do works in threads of their own, the results in order; Ctrl-C and a raised sign reach all of them.

    Raises:
        BaseException: what one of them raised, after all have stopped.
    """
    group = Cancellation()
    done: SimpleQueue[tuple[int, list[ResultT] | BaseException]] = SimpleQueue()
    waiting = list(enumerate(works))
    threads: list[Thread] = []

    def run(number: int, work: Callable[[], ResultT]) -> None:
        try:
            with under(group):
                done.put((number, [work()]))
        except BaseException as error:  # noqa: BLE001  # raised again in the thread that waits
            done.put((number, error))

    def start() -> None:
        if waiting:
            number, work = waiting.pop(0)
            threads.append(Thread(target=copy_context().run, args=(run, number, work), daemon=True))
            threads[-1].start()

    try:
        with interruptible(group.cancel):
            for _ in range(min(MOST_AT_ONCE, len(works))):
                start()
            yield from _in_order(done, len(works), start)
    finally:
        waiting.clear()
        group.cancel()
        for thread in threads:
            thread.join()


def _in_order(
    done: SimpleQueue[tuple[int, list[ResultT] | BaseException]], total: int, start: Callable[[], None]
) -> Iterator[ResultT]:
    ready: dict[int, ResultT] = {}
    for wanted in range(total):
        while wanted not in ready:
            number, result = done.get()
            start()
            if isinstance(result, BaseException):
                raise result
            ready[number] = result[0]
        yield ready.pop(wanted)
