"""JavaScript and TypeScript, as the rest of the program asks for them."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.languages.javascript.mutants import javascript_mutants
from agentforge.languages.javascript.null_implementation import javascript_null
from agentforge.languages.javascript.project import find_javascript, is_test, plan_of_words
from agentforge.languages.javascript.runner import run_javascript
from agentforge.languages.javascript.stubs import javascript_variants
from agentforge.languages.javascript.tests import holds_tests, plain_tests
from agentforge.languages.language import Language, ProjectFiles, RunOptions
from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan

_OTHERS = ("pom.xml", "build.gradle", "build.gradle.kts", "Cargo.toml", "go.mod", "Gemfile")
"""Build files of other languages, beside which a package.json without tests may stand."""


def _find(project: ProjectFiles) -> TestPlan | None:
    if project.holds(*_OTHERS) and not any(is_test(name) for name in project.names):
        return None
    return find_javascript(project.repo, project.names, environ=project.environ, base=project.base)


def _plan_of_command(project: ProjectFiles, command: Sequence[str]) -> TestPlan | None:
    return plan_of_words(project.repo, command, environ=project.environ, base=project.base, by="the setting")


def _run(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    return run_javascript(plan, ground, tests=ask.tests, seed=ask.seed, timeout_s=ask.timeout_s)


LANGUAGE = Language(
    name="javascript",
    rank=20,
    runners=("node", "vitest", "jest", "mocha"),
    grammars=("javascript", "typescript", "tsx"),
    manifests=("package.json",),
    find=_find,
    plan_of_command=_plan_of_command,
    run=_run,
    named_tests=plain_tests,
    holds_tests=holds_tests,
    stubs=javascript_variants,
    null_implementation=javascript_null,
    mutants=javascript_mutants,
    examined_test="test/examined.test.js",
)
