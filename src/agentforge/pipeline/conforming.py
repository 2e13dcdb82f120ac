"""Conformance of a tree against the base: the project's own checks and ours over the changed files, new findings only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.events.state import RunState
from agentforge.pipeline.runtime import Runtime
from agentforge.runners.rig import fresh_checkout

if TYPE_CHECKING:
    from agentforge.conformance.engine import CheckReport, Comparison
    from agentforge.conformance.site import Check


def compared(state: RunState, runtime: Runtime, *, tree: str, only: tuple[str, ...] = ()) -> Comparison:
    """Run the checks on a fresh checkout of `tree` and of the base, over the files that differ.

    Args:
        only: restrict to these repository paths; () = all changed files.
    """
    from agentforge.conformance.engine import compare

    base = state.trees.get("baseline") or runtime.git.tree_of(state.base_commit)
    changed = [item.path for item in runtime.git.changed(base, tree) if not only or item.path in only]
    before, after = _reports(runtime, base, tree, changed)
    return compare(before, after)


def _reports(runtime: Runtime, base: str, tree: str, paths: list[str]) -> tuple[CheckReport, CheckReport]:
    from agentforge.conformance.engine import run_checks

    rig = runtime.rig()
    with fresh_checkout(rig, base) as old, fresh_checkout(rig, tree) as new:
        interpreter = rig.plan.interpreter or None
        checks = _chosen(runtime)
        before = run_checks(
            old, mount_at=runtime.repo, sandbox=runtime.sandbox, paths=paths, checks=checks, interpreter=interpreter
        )
        after = run_checks(
            new,
            mount_at=runtime.repo,
            sandbox=runtime.sandbox,
            paths=paths,
            checks=checks,
            interpreter=interpreter,
            base=old,
        )
    return before, after


def _chosen(runtime: Runtime) -> list[Check] | None:
    """The checks but those that the settings switch off; None = all."""
    from agentforge.conformance.engine import check_names, load_check

    disabled = runtime.checks.get("disable")
    if not isinstance(disabled, (list, tuple)) or not disabled:
        return None
    return [load_check(name) for name in check_names() if name not in disabled]
