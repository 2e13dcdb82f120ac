"""The subagents of a session: which there are, how one is started, resumed, counted, and what its parent is told."""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, cast

from agentforge.agent import AgentSpec, exhausted
from agentforge.app.subagents.swarm import fan_out, goals_in
from agentforge.events.kinds import ChildFinished, ChildStarted, Event
from agentforge.events.state.run_state import RunState
from agentforge.session import SPAWNS, Subagent, defined, own_subagents, run_together, tool_of
from agentforge.tools.base import Observation, Tool, ToolError, failed
from agentforge.tools.dispatch.arguments import check_arguments, parse_arguments

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

WRITERS = "subagent_writers"
_ENDED = {
    "limit": "its limit was reached",
    "timeout": "its time was over",
    "stuck": "it repeated itself",
    "failed": "it failed",
}


class Subagents:
    """What a session knows of its subagents. Safe to be used by several of them at once."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._ended: deque[Event] = deque()
        self._lock = Lock()
        self._ledger: dict[str, RunState] = {}
        self._since: dict[str, float] = {}

    @cached_property
    def known(self) -> Mapping[str, Subagent]:
        """Every kind of subagent by name; those of the project only after trust."""
        rows = self._workshop.around.project.setting("subagents", kind="settings")
        found, wrong = defined(cast("list[Mapping[str, object]]", rows or ()))
        for problem in wrong:
            self._workshop.around.project.notice(problem)
        return {**own_subagents(), **found}

    def tools(self) -> dict[str, Tool]:
        """The tools that start one of them."""
        return {SPAWNS + name: tool_of(one) for name, one in self.known.items()}

    def swarm_tools(self) -> dict[str, Tool]:
        """The tools that start several at once; they belong to the modes of the swarm."""
        shop = self._workshop
        if shop.options.bare:
            return {}
        if shop.work_mode == "swarm":
            tool = fan_out(self.known, root=shop.root)
            return {tool.name: tool}
        if shop.work_mode == "swarm-build":
            from agentforge.app.subagents.writers import writing_tools

            return writing_tools(shop)
        return {}

    def may_write(self, tool: str) -> bool:
        """Whether a tool starts a subagent that could change the session's own folder."""
        one = self.known.get(tool.removeprefix(SPAWNS)) if tool.startswith(SPAWNS) else None
        return one is not None and not one.looks_only and self._workshop.work_mode == "build"

    def together(self, indices: tuple[int, ...], state: RunState, spec: AgentSpec) -> Iterable[Event]:
        """Carry out subagent calls of one reply, side by side."""

        def spec_of(index: int) -> AgentSpec:
            return replace(spec, tool_context=replace(spec.tool_context, spawn=self._spawn(state, index)))

        return run_together(indices, state, spec_of, self)

    def begun(self, state: RunState, index: int) -> Iterable[Event]:
        """The events that the subagents of call `index` start; nothing for those that are recorded already."""
        known = {row["child"] for row in state.talk.children}
        for part, (name, goal) in enumerate(self._goals(state, index)):
            child = child_id(state, index, part)
            if child not in known:
                yield ChildStarted(child=child, name=name, goal=goal[:2000], step=state.progress.turn.step, index=index)

    def ended(self) -> Iterable[Event]:
        """The events of subagents that ended since this was asked last."""
        while self._ended:
            yield self._ended.popleft()

    def forbids(self, child: RunState) -> str:
        """Why the session's limits allow no more model calls, its running subagents counted; "" = go on."""
        parent = self._workshop.log.state
        with self._lock:
            now = time.monotonic()
            began = self._since.setdefault(child.identity.run_id, now)
            self._ledger[child.identity.run_id] = child
            counted = {row["child"] for row in parent.talk.children if row["outcome"] != "running"}
            open_ones = [one.usage.totals for name, one in self._ledger.items() if name not in counted]
        totals = parent.usage.totals
        largest = max((totals.max_step_prompt_tokens, *(one.max_step_prompt_tokens for one in open_ones)))
        others = len(open_ones) - 1  # each may have a call under way that nobody has counted yet
        whole = replace(
            totals,
            steps=totals.steps + sum(one.steps for one in open_ones) + others,
            llm_calls=totals.llm_calls + sum(one.llm_calls for one in open_ones),
            prompt_tokens=totals.prompt_tokens + sum(one.prompt_tokens for one in open_ones) + others * largest,
            completion_tokens=totals.completion_tokens + sum(one.completion_tokens for one in open_ones),
            cost_usd=totals.cost_usd + sum(one.cost_usd for one in open_ones),
            max_step_prompt_tokens=largest,
        )
        progress = replace(parent.progress, active_s=parent.progress.active_s + now - began)
        return exhausted(replace(parent, usage=replace(parent.usage, totals=whole), progress=progress))

    def run(self, name: str, goal: str, *, child: str) -> Observation:
        """Run a subagent to its end, or go on with one that a process which died left behind.

        Raises:
            KeyboardInterrupt: it was stopped with its parent.
        """
        from agentforge.app.subagents.child_run import ChildRun

        with ChildRun(self._workshop, self.known[name], goal=goal, child=child, forbids=self.forbids) as run:
            try:
                run.drive()
            finally:
                self._ended.append(run.finished())
            report = _report(self.known[name], run.outcome, run.reason, run.words)
            return replace(report, changed=run.changed())

    def _spawn(self, state: RunState, index: int) -> Callable[[str, str], Observation]:
        """Starts the subagents of a call; those of one call are told apart by name and goal, in their order."""
        if state.progress.turn.calls[index].name == WRITERS:
            return lambda _name, _goal: self._write(state, index)
        goals = self._goals(state, index)
        lock, taken = Lock(), set[int]()

        def spawn(name: str, goal: str) -> Observation:
            with lock:
                part = next(at for at, one in enumerate(goals) if one == (name, goal) and at not in taken)
                taken.add(part)
            return self.run(name, goal, child=child_id(state, index, part))

        return spawn

    def _goals(self, state: RunState, index: int) -> list[tuple[str, str]]:
        """Whom a call starts, with which goal; nobody when the call is refused anyway."""
        return goals_of(state.progress.turn.calls[index].name, self._arguments(state, index))

    def _arguments(self, state: RunState, index: int) -> Mapping[str, object]:
        """The arguments of a call that can be carried out; nothing of one that is refused, with words of its own."""
        call = state.progress.turn.calls[index]
        tool = (self.tools() | self.swarm_tools()).get(call.name)
        if tool is None:
            return {}
        try:
            arguments = parse_arguments(tool, call.arguments)
            check_arguments(tool, arguments)
        except ToolError:
            return {}
        return arguments

    def _write(self, state: RunState, index: int) -> Observation:
        from agentforge.app.subagents.writers import run_writers

        return run_writers(
            self._workshop,
            self._arguments(state, index),
            child_of=lambda part: child_id(state, index, part),
            forbids=self.forbids,
            record=self._ended.append,
        )


def goals_of(tool: str, arguments: Mapping[str, object]) -> list[tuple[str, str]]:
    """The subagents that a call starts: (name, goal)."""
    if tool == WRITERS:
        from agentforge.app.subagents.writers import goals_of_parts

        return goals_of_parts(arguments)
    rows = arguments.get("goals")
    if isinstance(rows, list):
        return goals_in(rows)
    goal = str(arguments.get("goal", "")).strip()
    return [(tool.removeprefix(SPAWNS), goal)] if goal else []


def child_id(state: RunState, index: int, part: int = 0) -> str:
    """The id of a run that call `index` of the current reply starts: the same in every process."""
    return str(uuid.uuid5(uuid.UUID(state.identity.run_id), f"{state.progress.turn.step}/{index}/{part}"))


def usage_of(state: RunState) -> ChildFinished:
    """What a subagent used, to be counted by its parent; name and outcome are filled in by who knows them."""
    totals = state.usage.totals
    return ChildFinished(
        child=state.identity.run_id,
        name=state.progress.stage,
        outcome=state.talk.outcome,
        usage={
            "steps": totals.steps,
            "llm_calls": totals.llm_calls,
            "prompt_tokens": totals.prompt_tokens,
            "cached_tokens": totals.cached_tokens,
            "completion_tokens": totals.completion_tokens,
        },
        cost_usd=totals.cost_usd if totals.cost_known else None,
        duration_ms=int(state.progress.active_s * 1000),
    )


def _report(subagent: Subagent, outcome: str, reason: str, words: str) -> Observation:
    if outcome == "completed":
        return Observation(
            status="success", summary=f"{subagent.name} reports ({len(words.split())} words)", text=words
        )
    why = f"{_ENDED.get(outcome, outcome)}: {reason}"
    text = f"No complete report: {why}\n\nIt said last:\n{words}" if words else f"No report: {why}"
    return failed(f"{subagent.name}: {why}", error_type=outcome, text=text, retryable=outcome != "limit")
