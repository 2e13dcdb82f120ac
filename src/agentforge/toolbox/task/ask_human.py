"""The tool ask_human: a question that only a person can answer; a stage ends with it, a conversation waits."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import text, texts
from agentforge.tools.base import TEXT, TEXTS, Observation, Tool, ToolContext, ToolError, failed, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    question = text(arguments, "question").strip()
    if not question:
        raise ToolError(failed("the question is empty", error_type="bad-arguments"))
    options = texts(arguments, "options")
    if context.ask is not None:
        return _answered(context.ask(question, options))
    return Observation(
        status="success",
        summary=f"asked: {' '.join(question.split())[:150]}",
        text=question,
        payload={"question": question, "options": list(options)},
    )


def _answered(answer: str | None) -> Observation:
    if answer is None:
        raise ToolError(
            failed(
                "nobody answered",
                error_type="no-answer",
                retryable=False,
                next_actions=("decide by what you know, and say what you assumed",),
            )
        )
    said = f"The user answered: {answer}"  # a note: the user's own words stand outside of the fence around foreign text
    return Observation(status="success", summary=said, note=said)


TOOL = Tool(
    name="ask_human",
    description="Ask a person, only when the work cannot go on otherwise.",
    parameters=takes("question", question=TEXT, options=TEXTS),
    effect="ask",
    run=_run,
)
