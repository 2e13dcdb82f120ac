"""The tool submit_plan: plan mode ends with a plan that the person approves, and that is then carried out."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes

_NOBODY = "Nobody was there to approve the plan. End with the plan as your answer."
_APPROVED = "The user approved the plan. You are in build mode now: carry the plan out, and check each step as it says."


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    plan = text(arguments, "plan").strip()
    if not plan:
        raise ToolError(failed("the plan is empty", error_type="bad-arguments"))
    if context.put_plan is None:
        raise ToolError(failed("plans are put to the user in plan mode only", error_type="unknown-tool"))
    answer = context.put_plan(plan)
    if answer is None:
        return Observation(status="success", summary="nobody approved the plan", note=_NOBODY)
    if not answer:
        return Observation(status="success", summary="the user approved the plan", note=_APPROVED)
    said = f"The user did not approve the plan and said: {answer}"
    return Observation(status="success", summary=said, note=said)


TOOL = Tool(
    name="submit_plan",
    description="Put your plan (Markdown) to the user: they approve it and you carry it out, or they say what to change.",
    parameters=takes("plan", plan=TEXT),
    effect="ask",
    run=_run,
)
