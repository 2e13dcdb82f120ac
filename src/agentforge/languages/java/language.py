"""Java, as the rest of the program asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agentforge.languages.java.project import find_java, plan_of_java_words
from agentforge.languages.java.runner import run_java
from agentforge.languages.java.tests import java_tests
from agentforge.languages.language import Language, ProjectFiles, RunOptions
from agentforge.languages.native.mutants import native_mutants
from agentforge.languages.native.null_implementation import null_implementation
from agentforge.languages.native.stubs import native_variants
from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan


def _find(project: ProjectFiles) -> TestPlan | None:
    return find_java(project.repo, project.names, environ=project.environ, base=project.base)


def _plan_of_command(project: ProjectFiles, command: Sequence[str]) -> TestPlan | None:
    return plan_of_java_words(command, environ=project.environ, base=project.base)


def _run(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    return run_java(plan, ground, tests=ask.tests, seed=ask.seed, timeout_s=ask.timeout_s)


LANGUAGE = Language(
    name="java",
    rank=50,
    runners=("java",),
    grammars=("java",),
    manifests=("pom.xml", "build.gradle", "build.gradle.kts"),
    find=_find,
    plan_of_command=_plan_of_command,
    run=_run,
    named_tests=java_tests,
    stubs=partial(native_variants, language="java"),
    null_implementation=null_implementation,
    mutants=native_mutants,
    is_compiled=True,
    keeps_neighbours=True,
)
