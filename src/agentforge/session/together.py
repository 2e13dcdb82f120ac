"""Several subagent calls of one reply, carried out at the same time; what is recorded stays in the order of the reply."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING

from agentforge.agent.effects import RunTool
from agentforge.agent.perform import perform_tool

if TYPE_CHECKING:
    from agentforge.agent.perform import AgentSpec
    from agentforge.events.kinds import Event
    from agentforge.events.state import RunState

_MOST_AT_ONCE = 8


def run_together(indices: tuple[int, ...], state: RunState, spec: AgentSpec) -> Iterator[Event]:
    """Carry out calls side by side: all intents first, then the results."""

    def events(index: int) -> list[Event]:
        return list(perform_tool(RunTool(index=index, in_doubt=False), state, spec))

    with ThreadPoolExecutor(max_workers=_MOST_AT_ONCE) as pool:
        for future in [pool.submit(copy_context().run, events, index) for index in indices]:
            yield from future.result()
