"""Rust, as the rest of the program asks for it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from agentforge.languages.language import Language, ProjectFiles, RunOptions
from agentforge.languages.native.mutants import native_mutants
from agentforge.languages.native.null_implementation import null_implementation
from agentforge.languages.native.stubs import native_variants
from agentforge.languages.native.wrapper_commands import unwrapped
from agentforge.languages.rust.runner import run_cargo
from agentforge.languages.rust.tests import rust_tests
from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan


def _find(project: ProjectFiles) -> TestPlan | None:
    if not project.holds("Cargo.toml"):
        return None
    if shutil.which("cargo", path=project.environ.get("PATH")) is None:
        problems = ("cargo is not on PATH",)
        return TestPlan(
            runner="none", language="rust", source="detected: Cargo.toml", problems=problems, **project.base
        )
    return TestPlan(
        runner="cargo",
        command=("cargo", "test", "--offline", "--no-fail-fast", "--lib", "--bins", "--tests"),
        language="rust",
        source="detected: cargo via Cargo.toml (unit and integration tests; documentation tests are not run)",
        **project.base,
    )


def _plan_of_command(project: ProjectFiles, command: Sequence[str]) -> TestPlan | None:
    words = unwrapped(command)
    plan = _find(project) if tuple(words[:2]) == ("cargo", "test") else None
    return replace(plan, command=words) if plan is not None else None


def _run(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    return run_cargo(plan, ground, tests=ask.tests, seed=ask.seed, timeout_s=ask.timeout_s)


LANGUAGE = Language(
    name="rust",
    rank=30,
    runners=("cargo",),
    grammars=("rust",),
    manifests=("Cargo.toml",),
    find=_find,
    plan_of_command=_plan_of_command,
    run=_run,
    named_tests=rust_tests,
    stubs=partial(native_variants, language="rust"),
    null_implementation=null_implementation,
    mutants=native_mutants,
    is_compiled=True,
    runs_all=True,
    examined_test="tests/examined.rs",
)
