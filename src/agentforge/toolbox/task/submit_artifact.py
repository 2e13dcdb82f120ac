"""The tool submit_artifact: hand in the stage's result; the harness verifies it."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.tools.base import Observation, Tool, ToolContext, takes


def _run(arguments: Mapping[str, object], _context: ToolContext) -> Observation:
    payload: dict[str, object] = {"draft": arguments["artifact"]}
    ahead = {name: value for name, value in arguments.items() if name != "artifact" and isinstance(value, Mapping)}
    if not ahead:
        return Observation(status="success", summary="artifact submitted for verification", payload=payload)
    summary = f"artifact submitted for verification, together with that of {', '.join(ahead)}"
    return Observation(status="success", summary=summary, payload={**payload, "ahead": ahead})


TOOL = Tool(
    name="submit_artifact",
    description="Submit the stage's result.",
    parameters=takes("artifact", artifact={"type": "object"}),
    effect="submit",
    run=_run,
)
