"""The tool submit_artifact: hand in the stage's result; the harness verifies it."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.tools.base import Observation, Tool, ToolContext, takes


def _run(arguments: Mapping[str, object], _context: ToolContext) -> Observation:
    artifact = arguments["artifact"]
    return Observation(status="success", summary="artifact submitted for verification", payload={"draft": artifact})


TOOL = Tool(
    name="submit_artifact",
    description="Submit the stage's result.",
    parameters=takes("artifact", artifact={"type": "object"}),
    effect="submit",
    run=_run,
)
