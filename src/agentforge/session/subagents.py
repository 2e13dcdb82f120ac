"""Which subagents there are: six of our own that only look, and those that the settings define.

Calls of one reply that start several go side by side: every intent is durable before the first of them starts.

The turn of a subagent: the same loop as its parent's, stopped by its parent's limits and by its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from agentforge.agent import AgentSpec, CallModel, Effect, Log, RunTool, drive, perform_tool
from agentforge.cancellation import Cancellation, check, interruptible, under
from agentforge.events.kinds import Event, ToolFinished, ToolStarted
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.session.decide import SPAWNS, EndTurn, decide
from agentforge.session.modes import prompt
from agentforge.session.performer import SessionPerformer
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, failed, takes

if TYPE_CHECKING:
    from agentforge.session.runtime import SessionRuntime


LOOKING = ("read_file", "list_dir", "glob", "grep", "git_diff")
"""What the subagents of our own may call."""

_OWN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "explore": ("Find where something is: files, symbols, flows.", ("read_file", "list_dir", "glob", "grep")),
    "debugger": ("Find the cause of a failure from the code and its messages.", LOOKING),
    "codebase_investigator": ("Explain how a part of the code works, with evidence.", LOOKING),
    "code_reviewer": ("Review the changes, or named files, for defects.", LOOKING),
    "test_planner": ("Say which tests are missing and what each must show.", LOOKING),
    "architect": ("Weigh ways to build something and recommend one.", LOOKING),
}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,50}")
MAX_TURNS = 20
TIMEOUT_S = 600.0
ResultT = TypeVar("ResultT")
MOST_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Subagent:
    """One kind of subagent.

    Attributes:
        name: of the tool behind `subagent_`, and the name under which its steps are counted.
        goal_prompt: its instructions.
        allowed_tools: names of the tools that it may call; None = those of its parent.
        looks_only: it changes nothing, whatever the mode of its parent.
        max_turns: its model calls, 1-100.
        timeout_seconds: of wall time, >= 10.
    """

    name: str
    description: str
    goal_prompt: str
    allowed_tools: tuple[str, ...] | None = None
    looks_only: bool = False
    max_turns: int = MAX_TURNS
    timeout_seconds: float = TIMEOUT_S


def own_subagents() -> dict[str, Subagent]:
    """The six that ship with the program."""
    return {
        name: Subagent(
            name=name,
            description=description,
            goal_prompt=prompt(f"subagents/{name}"),
            allowed_tools=tools,
            looks_only=True,
        )
        for name, (description, tools) in _OWN.items()
    }


def defined(rows: Iterable[Mapping[str, object]]) -> tuple[dict[str, Subagent], tuple[str, ...]]:
    """Read `[[subagents]]` of the settings.

    Returns:
        Subagents by name, and what is wrong with those that were left out.
    """
    found: dict[str, Subagent] = {}
    wrong: list[str] = []
    for row in rows:
        name = str(row["name"])
        if not _NAME.fullmatch(name):
            wrong.append(f"subagent {name!r}: a name is letters, digits, - and _, at most 50")
        elif name in found:
            wrong.append(f"subagent {name!r} is defined twice; the first one holds")
        else:
            found[name] = _read(name, row)
    return found, tuple(wrong)


def tool_of(subagent: Subagent) -> Tool:
    """The tool that starts a subagent. It changes nothing itself: every call of the subagent is judged for itself."""

    def run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
        goal = str(arguments["goal"]).strip()
        if not goal:
            return failed("the goal is empty", error_type="bad-arguments")
        if context.spawn is None:
            return failed("a subagent starts no subagents", error_type="no-nesting", retryable=False)
        return context.spawn(subagent.name, goal)

    return Tool(
        name=SPAWNS + subagent.name,
        description=f"Subagent: {subagent.description[:300]}",
        parameters=takes("goal", goal=TEXT),
        effect="read",
        run=run,
    )


def _read(name: str, row: Mapping[str, object]) -> Subagent:
    allowed = cast("list[str] | None", row.get("allowed_tools"))
    return Subagent(
        name=name,
        description=str(row["description"]),
        goal_prompt=str(row["goal_prompt"]),
        allowed_tools=None if allowed is None else tuple(allowed),
        max_turns=int(cast("int", row.get("max_turns", MAX_TURNS))),
        timeout_seconds=float(cast("float", row.get("timeout_seconds", TIMEOUT_S))),
    )


def run_child_turn(log: Log, runtime: SessionRuntime, *, forbids: Callable[[RunState], str]) -> RunState:
    """Drive the open turn of a subagent to its end.

    Args:
        forbids: asked before every model call: why the limits of the whole run allow no more, "" = go on.
    Raises:
        KeyboardInterrupt: it was stopped, or its time is over.
        AgentForgeError: the harness or the model failed.
    """
    performer = SessionPerformer(runtime)

    def next_effect(state: RunState) -> Effect | None:
        check()
        effect = decide(state, runtime.rules())
        reason = forbids(state) if isinstance(effect, CallModel) else ""
        return EndTurn(outcome="limit", reason=reason) if reason else effect

    return drive(log, next_effect, performer.perform)


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
