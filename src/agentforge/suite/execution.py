"""Runs a suite by its plan: chooses the runner, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.languages.catalogue import of_runner
from agentforge.languages.language import RunOptions
from agentforge.suite.junit_runner import run_junit
from agentforge.testing.launch import ground
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan
from agentforge.workspace.sandbox.box import Sandbox


def run_suite(
    plan: TestPlan,
    *,
    checkout: Path,
    mount_at: Path,
    sandbox: Sandbox,
    tests: Sequence[str] = (),
    extra_args: Sequence[str] = (),
    seed: int | None = None,
    timeout_s: float | None = None,
    scratch: Path | None = None,
    protected: tuple[str, ...] = (),
    trace: bool = False,
    traced_files: tuple[str, ...] = (),
    calls: bool = False,
    test_limit_s: float = 0.0,
    built: Path | None = None,
) -> SuiteRun:
    """Run the suite of a checkout, or the named tests of it.

    Args:
        checkout: the folder whose tests run; it may be written to.
        mount_at: the user's repository, absolute; the sandbox shows the checkout there.
        tests: ids, files or folders; () is the whole suite.
        extra_args: more arguments for pytest.
        seed: order of the tests and hash seed; None is the project's own order.
        timeout_s: None is the plan's.
        scratch: parent of the run's scratch folder.
        protected: repository paths that are read-only while the tests run (in the sandbox only).
        trace: record what each test executes, where the runner can.
        traced_files: the only files of which that is recorded; () = all.
        calls: write down calls of their functions, too.
        test_limit_s: a test that takes longer is stopped and has failed, where the runner can; 0 = no limit.
        built: see `Ground`.
    Raises:
        ToolchainError: the plan cannot be run: no runner, no pytest, no interpreter.
        SandboxError: the box cannot be built.
    """
    limit = plan.timeout_s if timeout_s is None else timeout_s
    with ground(
        checkout=checkout, mount_at=mount_at, sandbox=sandbox, scratch=scratch, protected=protected, built=built
    ) as place:
        if plan.runner == "none":
            raise ToolchainError("; ".join(plan.problems) or "the repository has no tests that can be run")
        language = of_runner(plan.runner)
        if language is None:
            return run_junit(plan, place, tests=tests, timeout_s=limit)
        ask = RunOptions(
            timeout_s=limit,
            tests=tests,
            seed=seed,
            extra_args=extra_args,
            trace=trace,
            traced_files=traced_files,
            calls=calls,
            test_limit_s=test_limit_s,
        )
        return language.run(plan, place, ask)
