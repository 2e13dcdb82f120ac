"""Subagent calls of one reply, side by side: every intent is durable before the first of them starts.

What is recorded stays in the order of the reply; what one subagent meets does not touch the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Protocol, TypeVar

from agentforge.agent import AgentSpec, RunTool, perform_tool
from agentforge.cancellation import Cancellation, interruptible, under
from agentforge.events.kinds import Event, ToolFinished, ToolStarted
from agentforge.events.state.run_state import RunState

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
    in_doubt = state.progress.turn.started
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

    def run(work: Callable[[], ResultT]) -> ResultT:
        with under(group):
            return work()

    pool = ThreadPoolExecutor(max_workers=MOST_AT_ONCE)
    try:
        with interruptible(group.cancel):
            futures = [pool.submit(copy_context().run, run, work) for work in works]
            for future in futures:
                yield future.result()
    finally:
        group.cancel()
        pool.shutdown(cancel_futures=True)
