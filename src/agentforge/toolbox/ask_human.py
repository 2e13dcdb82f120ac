"""The tool ask_human: end the stage's work with a question that only a person can answer."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import text, texts
from agentforge.tools.base import TEXT, TEXTS, Observation, Tool, ToolContext, ToolError, failed, takes


def _run(arguments: Mapping[str, object], _context: ToolContext) -> Observation:
    question = text(arguments, "question").strip()
    if not question:
        raise ToolError(failed("the question is empty", error_type="bad-arguments"))
    options = texts(arguments, "options")
    return Observation(
        status="success",
        summary=f"asked: {' '.join(question.split())[:150]}",
        text=question,
        payload={"question": question, "options": list(options)},
    )


TOOL = Tool(
    name="ask_human",
    description="Ask a person, only when the work cannot go on otherwise.",
    parameters=takes("question", question=TEXT, options=TEXTS),
    effect="ask",
    run=_run,
)
