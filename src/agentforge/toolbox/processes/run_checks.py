"""The tool run_checks: conformance of changed files, measured by the harness."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import texts
from agentforge.tools.base import TEXTS, Observation, Tool, ToolContext, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    return context.run_checks(texts(arguments, "paths"))


TOOL = Tool(
    name="run_checks",
    description="Lint and type-check; none = all changed files.",
    parameters=takes(paths=TEXTS),
    effect="execute",
    does="test",
    run=_run,
)
