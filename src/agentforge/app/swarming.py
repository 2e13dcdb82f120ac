"""Swarm: one question, several subagents side by side, one answer with evidence that the harness looked up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.errors import ConflictError, UsageError
from agentforge.session.evidence import check_evidence
from agentforge.session.together import side_by_side
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, failed, takes

if TYPE_CHECKING:
    from agentforge.app.chat import Chat
    from agentforge.session.subagents import Subagent

LEAST, MOST = 2, 5


def fan_out(known: Mapping[str, Subagent], *, root: Path) -> Tool:
    """The tool that starts several subagents that only look, at the same time.

    Args:
        root: where the places that they name are looked up.
    """
    names = [name for name, one in known.items() if one.looks_only]
    goal = {
        "type": "object",
        "properties": {"goal": TEXT, "subagent": {"type": "string", "enum": names}},
        "required": ["goal"],
        "additionalProperties": False,
    }

    def run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
        from functools import partial

        from agentforge.app.subagents import goals_of

        spawn = context.spawn
        if spawn is None:
            return failed("a subagent starts no subagents", error_type="no-nesting", retryable=False)
        goals = goals_of("subagent_swarm", arguments)
        if any(not text for _, text in goals):
            return failed("a goal is empty", error_type="bad-arguments")
        reports = list(side_by_side([partial(spawn, name, text) for name, text in goals]))
        return _merged(goals, reports, root)

    return Tool(
        name="subagent_swarm",
        description="Start several subagents at the same time, each with its own goal; returns their reports.",
        parameters=takes("goals", goals={"type": "array", "minItems": LEAST, "maxItems": MOST, "items": goal}),
        effect="read",
        run=run,
    )


def investigate(chat: Chat, question: str) -> str:
    """Answer a question by a fan-out; the session's mode is as before afterwards.

    Returns:
        The answer, and what became of its evidence.
    Raises:
        UsageError: there is no question.
        ConflictError: no subagents ran, or the turn did not end well.
    """
    if not question.strip():
        raise UsageError("there is no question", hint='/swarm investigate "why is start-up slow?"')
    before, ran = chat.workshop.work_mode, len(chat.state.talk.children)
    chat.change(work_mode="swarm")
    try:
        result = chat.say(question)
    finally:
        chat.change(work_mode=before)
    if result.outcome != "completed":
        raise ConflictError(f"the swarm ended without an answer: {result.reason}", hint="/retry")
    started = len(chat.state.talk.children) - ran
    told = check_evidence(result.text, chat.workshop.root).told()
    if not started:
        told = f"no subagent was started: the model answered by itself; {told}"
    return f"{result.text}\n\n({started} subagents; {told})"


def _merged(goals: list[tuple[str, str]], reports: list[Observation], root: Path) -> Observation:
    parts = []
    for number, ((name, goal), report) in enumerate(zip(goals, reports, strict=True), start=1):
        evidence = check_evidence(report.text, root).told()
        parts.append(f"## {number}. {name}: {goal}\n{report.text}\n({evidence})")
    good = sum(report.status == "success" for report in reports)
    text = "\n\n".join(parts)
    if not good:
        return failed("no subagent came back with a report", error_type="no-report", text=text)
    return Observation(status="success", summary=f"{good} of {len(reports)} subagents report", text=text)
