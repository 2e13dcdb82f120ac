"""The policy of a stage: the mode and the rules of the settings, over the workspace as the sandbox shows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.pipeline.model.scope import spelled_out
from agentforge.safety.policy.modes import Mode
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.tools.dispatch.approval import approval

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState
    from agentforge.pipeline.model.runtime import Runtime
    from agentforge.pipeline.model.stage import Stage
    from agentforge.safety.policy.decision import Policy
    from agentforge.tools.base import Tool


def stage_approval(
    state: RunState, stage: Stage, runtime: Runtime
) -> Callable[[Tool, Mapping[str, object]], str | None]:
    """The judge of every tool call of a stage; nobody is there to ask."""
    return approval(lambda: stage_policy(state, stage, runtime), allowed=runtime.permits.allowed_tools)


def may_read(state: RunState, stage: Stage, runtime: Runtime) -> Callable[[str], bool]:
    """Whether a search may show what stands in a file: where no rule closes files, in all of them."""
    if not any(rule.pattern and rule.verdict != "allow" for rule in runtime.permits.rules):
        return lambda _path: True
    from agentforge.safety.policy.decision import decide_call

    policy = stage_policy(state, stage, runtime)
    return lambda path: decide_call("read_file", policy, kind=CommandClass.READ_ONLY, reads=(path,)).verdict == "allow"


def stage_policy(state: RunState, stage: Stage, runtime: Runtime) -> Policy:
    """What holds for the tools of a stage.

    The workspace is known under two names: its own, and the repository's, where the sandbox mounts it.
    """
    from agentforge.safety.policy.decision import Policy

    root = state.repo or str(runtime.repo)  # a replay works elsewhere, but its calls name the places of then
    return Policy(
        mode=Mode(runtime.permits.mode),
        rules=runtime.permits.rules,
        ground=PathPolicy(
            root=root,
            folder=root,
            home=str(Path.home()),
            real=lambda path: _seen_in_sandbox(path, worktree=str(runtime.worktree), root=root),
            scratch=("/tmp", "/var/tmp") if runtime.sandbox.kind != "none" else (),
            named=spelled_out(stage, state),
        ),
        now=runtime.permits.now(),
        tainted=bool(state.untrusted),
        confined=runtime.sandbox.kind != "none",
    )


def _seen_in_sandbox(path: str, *, worktree: str, root: str) -> str:
    """Where a path really leads, named as the sandbox names it."""
    own = os.path.realpath(worktree)
    inside = path == root or path.startswith(root.rstrip("/") + "/")
    real = os.path.realpath(own + path[len(root) :] if inside else path)
    if real == own or real.startswith(own + "/"):
        return root + real[len(own) :]
    return real
