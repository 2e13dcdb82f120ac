"""Python, as the rest of the program asks for it."""

from __future__ import annotations

from agentforge.languages.language import Language, ProjectFiles, RunOptions
from agentforge.languages.python.null_implementation import python_null
from agentforge.languages.python.plan import find_python
from agentforge.languages.python.runner import run_python
from agentforge.languages.python.stubs import python_variants
from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan


def _find(project: ProjectFiles) -> TestPlan | None:
    return find_python(project.repo, project.names, project.settings, project.environ, project.base)


def _run(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    return run_python(
        plan,
        ground,
        tests=ask.tests,
        extra_args=ask.extra_args,
        seed=ask.seed,
        timeout_s=ask.timeout_s,
        trace=ask.trace,
        traced_files=ask.traced_files,
        calls=ask.calls,
        test_limit_s=ask.test_limit_s,
    )


LANGUAGE = Language(
    name="python",
    rank=10,
    runners=("pytest", "unittest"),
    grammars=("python",),
    manifests=("pyproject.toml", "setup.py", "setup.cfg"),
    find=_find,
    run=_run,
    stubs=python_variants,
    null_implementation=python_null,
)
