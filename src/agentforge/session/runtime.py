"""What a conversation stands on: plain objects, wired by app, and the folder of the user, reached through the sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentforge.agent import AgentSpec, BlobStore, Workspace
from agentforge.context.conversation import Budget
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.hooks import HookEngine
from agentforge.messages import ModelReply
from agentforge.models import Model
from agentforge.session.decide import TurnRules
from agentforge.tools.base import Observation, Tool, ToolContext, failed
from agentforge.tools.dispatch.invocation import Judge
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import Completed, overheard
from agentforge.workspace.sandbox.box import Box, Sandbox
from agentforge.workspace.sandbox.loopback import SharedLoopback

if TYPE_CHECKING:
    from agentforge.tools.web.browser import Browser
    from agentforge.workspace.processes.background import BackgroundCommands
    from agentforge.workspace.protection.change_detector import Watch
    from agentforge.workspace.protection.reconciliation import Settled


Follow = Callable[[str, Callable[[], Completed]], Completed]
"""Runs a command that is named to people, and waits for it as long as they want to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRuntime:
    """The parts of one conversation. Callables are asked anew for each effect: a person may change them in between.

    Attributes:
        root: the folder that the agent works in.
        model: who answers now.
        tools: what may be called now, by name: those of the mode.
        tool_context: the reach of the tools.
        system: the instructions; byte-stable while nothing is switched.
        situation: what goes behind the history: todos, mode, pinned facts.
        approve: judges every call; asks the person where the mode says so.
        confirm: asks the person about a call that a hook wants decided; None = nobody is there.
        guard: remembers the workspace before a command; None where there is no way to.
        snapshot: tree and patch after a step; None = nothing changed, or there is no way to tell.
        before_call: events before call `index` of the reply, such as the checkpoint before a turn's first mutation.
        together: carries out several subagent calls at the same time; events in the order of the reply.
        result_tokens: what the next result of a tool may cost now: (state, calls without a result) -> tokens.
        compact: summarises the oldest entries: (state, reason) -> the event.
        answered: what the person answered since this was asked last, as events.
        ended: the background commands that ended since this was asked last, as events.
        arrived: what the person said and switched while the turn went on, since this was asked last, as events.
        redacts: take out of observations what looks like a secret; False: the values that are known alone.
        cleans: take terminal escapes out of observations.
    """

    root: Path
    model: Callable[[], Model]
    tools: Callable[[], Mapping[str, Tool]]
    tool_context: Callable[[RunState], ToolContext]
    system: Callable[[], str]
    situation: Callable[[RunState], str]
    approve: Judge
    blobs: BlobStore
    price: Callable[[ModelReply], float | None]
    secrets: tuple[str, ...]
    nonce: str
    redacts: bool = True
    cleans: bool = True
    rules: Callable[[], TurnRules]
    budget: Callable[[], Budget]
    max_output_tokens: int
    result_tokens: Callable[[RunState, int], int]
    temperature: float | None = None
    confirm: Callable[[str], bool] | None = None
    hooks: HookEngine | None = None
    guard: Workspace | None = None
    snapshot: Callable[[RunState], tuple[str, bytes] | None] = lambda _state: None
    on_delta: Callable[[str], None] | None = None
    on_thought: Callable[[str], None] | None = None
    before_call: Callable[[RunState, int], Iterable[Event]] = lambda _state, _index: ()
    together: Callable[[tuple[int, ...], RunState, AgentSpec], Iterable[Event]]
    compact: Callable[[RunState, str], Event]
    answered: Callable[[], Iterable[Event]] = tuple
    ended: Callable[[], Iterable[Event]] = tuple
    arrived: Callable[[], Iterable[Event]] = tuple


def tool_context(
    state: RunState,
    *,
    root: Path,
    sandbox: Sandbox,
    watch: Watch,
    writable: bool,
    ask: Callable[[str, tuple[str, ...]], str | None] | None = None,
    repository: Git | None = None,
    browser: Callable[[], Browser] | None = None,
    output: Callable[[bytes], None] | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
    background: BackgroundCommands | None = None,
    loopback: SharedLoopback | None = None,
    follow: Follow | None = None,
) -> ToolContext:
    """The reach of a turn's tools.

    Args:
        writable: whether commands may change the folder; not in plan mode.
        repository: the user's own, which the git tools look at and commit to.
        output: hears what commands write while they run.
        variables: what commands see beside the allow-list.
        background: the commands that were left running.
        loopback: the network that they serve on.
        follow: runs a command that the person may send to the background; None where nobody can.
    """

    def alone(_command: str, run: Callable[[], Completed]) -> Completed:
        with overheard(output) if output is not None else nullcontext():
            return run()

    def run_command(
        command: str, *, timeout_s: float, cwd: str, way: Follow = alone
    ) -> tuple[Completed, Settled | None]:
        def boxed() -> Completed:
            box = box_of(root, cwd, writable=writable, variables=variables, loopback=loopback)
            return sandbox.run(["bash", "-c", command], box=box, timeout_s=timeout_s)

        run = partial(way, command, boxed)
        return watch.watch(run) if writable else (run(), None)

    return ToolContext(
        root=root,
        base_commit=state.identity.base_commit,
        run_command=run_command,
        run_tests=_not_here,
        run_checks=_not_here,
        git_diff=lambda path: watch.diff(path, since=state.identity.base_commit),
        may_write=lambda _path: None if writable else "plan mode writes no files",
        seen={path: str(digest) for path, digest in state.progress.turn.seen.items() if digest},
        todos=state.talk.todos,
        ask=ask,
        git=repository,
        browser=browser,
        background=background,
        follow_command=None if follow is None else partial(run_command, way=follow),
    )


def box_of(
    root: Path,
    cwd: str,
    *,
    writable: bool,
    variables: Mapping[str, str],
    loopback: SharedLoopback | None,
    lasting: bool = False,
) -> Box:
    """What a command of a conversation sees."""
    return Box(
        workspace=root,
        mount_at=root,
        cwd=cwd or ".",
        writable=writable,
        env={**variables, **_environment(root, variables.get("PATH") or os.environ.get("PATH", os.defpath))},
        loopback=loopback,
        lasting=lasting,
    )


def _environment(root: Path, path: str) -> dict[str, str]:
    """The project's own interpreter first on PATH."""
    own = root / ".venv" / "bin"
    return {"PATH": f"{own}{os.pathsep}{path}"} if own.is_dir() else {}


def _not_here(_names: tuple[str, ...]) -> Observation:
    return failed("run it with the tool shell", error_type="unknown-tool")
