"""Counts the tests of a suite without running them, as far as its runner can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentforge.errors import ToolchainError
from agentforge.languages.language import RunOptions
from agentforge.suite.baseline_causes import Cause, causes_of
from agentforge.suite.execution import run_suite
from agentforge.suite.test_environment import Rig, fresh_checkout
from agentforge.testing.outcome import file_of
from agentforge.workspace.code.relevance import is_test_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many tests a suite has.

    Attributes:
        text: in words.
        causes: why test files cannot be loaded.
    """

    text: str
    causes: tuple[Cause, ...] = ()


def count_tests(rig: Rig, *, tree: str) -> Counted:
    """Collect the tests in a fresh checkout of a tree, in the sandbox; where the runner cannot, count the test files by name.

    Args:
        rig: its `timeout_s` bounds the collection.
    """
    present = rig.git.list_files(tree)
    if rig.plan.runner not in ("pytest", "unittest"):
        return Counted(text=_files_text(present))
    try:
        with fresh_checkout(rig, tree) as checkout:
            run = run_suite(
                rig.plan,
                RunOptions(timeout_s=rig.timeout_s, extra_args=("--collect-only", "-q")),
                checkout=checkout,
                mount_at=rig.mount_at,
                sandbox=rig.sandbox,
                scratch=rig.scratch,
            )
    except ToolchainError as exc:
        return Counted(text=exc.message)
    causes = causes_of(run, rig.plan, present=present, read=rig.read(tree))
    if run.timed_out:
        return Counted(text=f"the tests could not be collected within {rig.timeout_s:.0f} s", causes=causes)
    if not run.collected:
        return Counted(text="no test can be collected" if causes else "no tests yet", causes=causes)
    files = len({file_of(one) for one in run.collected})
    tests = f"{len(run.collected):,} test{'' if len(run.collected) == 1 else 's'}"
    return Counted(text=f"{tests} in {files:,} file{'' if files == 1 else 's'}", causes=causes)


def _files_text(present: Sequence[str]) -> str:
    files = sum(1 for path in present if is_test_path(path))
    return f"{files:,} file{'' if files == 1 else 's'} of tests; how many tests they hold is known when they run"
