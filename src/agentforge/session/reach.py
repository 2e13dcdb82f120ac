"""What the tools of a conversation can reach: the user's folder, through the sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.tools.base import Observation, ToolContext, failed
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import Completed, overheard
from agentforge.workspace.sandbox.box import Box, Sandbox
from agentforge.workspace.sandbox.loopback import SharedLoopback

if TYPE_CHECKING:
    from agentforge.tools.web.browser import Browser
    from agentforge.workspace.processes.background import BackgroundCommands
    from agentforge.workspace.protection.change_detector import Watch
    from agentforge.workspace.protection.reconciliation import Settled


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
) -> ToolContext:
    """The reach of a turn's tools.

    Args:
        writable: whether commands may change the folder; not in plan mode.
        repository: the user's own, which the git tools look at and commit to.
        output: hears what commands write while they run.
        variables: what commands see beside the allow-list.
        background: the commands that were left running.
        loopback: the network that they serve on.
    """

    def run_command(command: str, *, timeout_s: float, cwd: str) -> tuple[Completed, Settled | None]:
        def run() -> Completed:
            box = box_of(root, cwd, writable=writable, variables=variables, loopback=loopback)
            with overheard(output) if output is not None else nullcontext():
                return sandbox.run(["bash", "-c", command], box=box, timeout_s=timeout_s)

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
