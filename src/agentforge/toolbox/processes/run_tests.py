"""The tool run_tests: tests of the workspace, run by the harness in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import texts
from agentforge.tools.base import TEXTS, Observation, Tool, ToolContext, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    return context.run_tests(texts(arguments, "tests"))


TOOL = Tool(
    name="run_tests",
    description="Run tests by id or path; none = those of this stage.",
    parameters=takes(tests=TEXTS),
    effect="execute",
    does="test",
    run=_run,
)
