"""Runs a suite by its plan: chooses the runner, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.languages.go.runner import run_go
from agentforge.languages.java.runner import run_java
from agentforge.languages.javascript.runner import run_javascript
from agentforge.languages.python.runner import run_python
from agentforge.languages.rust.runner import run_cargo
from agentforge.suite.junit_runner import run_junit
from agentforge.testing.launch import Ground, ground
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import JAVASCRIPT, TestPlan
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
        if plan.runner in ("pytest", "unittest"):
            return run_python(
                plan,
                place,
                tests=tests,
                extra_args=extra_args,
                seed=seed,
                timeout_s=limit,
                trace=trace,
                traced_files=traced_files,
                calls=calls,
                test_limit_s=test_limit_s,
            )
        return _run_foreign(plan, place, tests=tests, seed=seed, timeout_s=limit)


def _run_foreign(
    plan: TestPlan, place: Ground, *, tests: Sequence[str], seed: int | None, timeout_s: float
) -> SuiteRun:
    """Run the suite of a project in another language than Python."""
    if plan.runner in JAVASCRIPT:
        return run_javascript(plan, place, tests=tests, seed=seed, timeout_s=timeout_s)
    if plan.runner == "go":
        return run_go(plan, place, tests=tests, seed=seed, timeout_s=timeout_s)
    if plan.runner == "cargo":
        return run_cargo(plan, place, tests=tests, seed=seed, timeout_s=timeout_s)
    if plan.runner == "java":
        return run_java(plan, place, tests=tests, seed=seed, timeout_s=timeout_s)

    return run_junit(plan, place, tests=tests, timeout_s=timeout_s)
