"""Swarm: one question, several subagents side by side, one answer with evidence that the harness looked up.

Evidence in reports: places written as path:line, and whether they are there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.errors import ConflictError, UsageError
from agentforge.frozen import dataclass
from agentforge.session import Subagent, side_by_side
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, failed, takes

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat, TurnResult


LEAST, MOST = 2, 5


def goals_in(rows: object) -> list[tuple[str, str]]:
    """List the subagents that the argument `goals` of a call starts: (name, goal)."""
    listed = cast("list[Mapping[str, object]]", rows)
    return [(str(row.get("subagent", "explore")), str(row["goal"]).strip()) for row in listed]


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
        spawn = context.spawn
        if spawn is None:
            return failed("a subagent starts no subagents", error_type="no-nesting", retryable=False)
        goals = goals_in(arguments["goals"])
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
        What became of the evidence of the answer, which every face has shown by then.
    Raises:
        UsageError: there is no question.
        ConflictError: no subagents ran, or the turn did not end well.
    """
    if not question.strip():
        raise UsageError("there is no question", hint='/swarm investigate "why is start-up slow?"')
    result = _said(chat, question, mode="swarm")
    return f"({result.swarm['told']})"


def with_evidence(chat: Chat, result: TurnResult, *, since: int) -> TurnResult:
    """The answer of a swarm with what became of its evidence, which is recorded, too.

    Args:
        since: how many subagents there were before the turn.
    """
    started = len(chat.state.talk.children) - since
    evidence = check_evidence(result.text, chat.workshop.root)
    found = {"subagents": started, "found": list(evidence.found), "missing": list(evidence.missing)}
    chat.change(swarm=found)
    alone = "" if started else "no subagent was started: the model answered by itself; "
    return replace(result, swarm={**found, "told": f"{started} subagents; {alone}{evidence.told()}"})


def build(chat: Chat, task: str) -> str:
    """Have a task done by several writers; what they made is taken over only when it was approved.

    Returns:
        What became of the writers' changes; what the model says of them every face has shown by then.
    Raises:
        UsageError: there is no task.
        ConflictError: nothing may be written now, or the turn did not end well.
    """
    if not task.strip():
        raise UsageError("there is no task", hint='/swarm build "add a --json flag to every command"')
    if chat.workshop.work_mode == "plan":
        raise ConflictError("plan mode changes nothing", hint="/build first")
    merges, changed = len(chat.state.talk.merges), chat.state.talk.changed_paths
    _said(chat, task, mode="swarm-build")
    fresh = chat.state.talk.merges[merges:]
    if not fresh:
        return "(no writers were started)"
    taken = set(cast("list[str]", fresh[-1]["paths"])) & set(chat.state.talk.changed_paths)
    done = "taken over" if taken and chat.state.talk.changed_paths != changed else "not taken over"
    return f"({done}: {', '.join(cast('list[str]', fresh[-1]['paths'])) or 'nothing'})"


def _said(chat: Chat, text: str, *, mode: str) -> TurnResult:
    """One turn in a mode; the session's mode is as before afterwards."""
    before = chat.workshop.work_mode
    chat.change(work_mode=mode)
    try:
        result = chat.say(text)
    finally:
        chat.change(work_mode=before)
    if result.outcome != "completed":
        raise ConflictError(f"the swarm ended without an answer: {result.reason}", hint="/retry")
    return result


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


_PLACE = re.compile(r"(?<![\w/.:-])((?:[\w.-]+/)*[\w-][\w.-]*\.\w+):(\d{1,7})(?:-(\d{1,7}))?(?![\w/])")
_MOST = 200
_LARGEST_BYTES = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What became of the places that a text names.

    Attributes:
        found: `path:line` that exist, each once, in the order of the text.
        missing: those that do not, each with the reason.
    """

    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def told(self) -> str:
        """One line for people and models."""
        if not self.found and not self.missing:
            return "evidence: no place is named as path:line"
        wrong = f"; not there: {', '.join(self.missing)}" if self.missing else ""
        return f"evidence: {len(self.found)} of {len(self.found) + len(self.missing)} places are there{wrong}"


def check_evidence(text: str, root: Path) -> Evidence:
    """Look up every `path:line` of a text in a folder."""
    found: list[str] = []
    missing: list[str] = []
    lengths: dict[str, int] = {}
    for match in list(_PLACE.finditer(text))[:_MOST]:
        path, last = match[1], int(match[3] or match[2])
        place = match[0]
        if place in found or any(one.startswith(f"{place} ") for one in missing):
            continue
        if path not in lengths:
            lengths[path] = _lines(root / path, root)
        if lengths[path] < 0:
            missing.append(f"{place} (no such file)")
        elif not 1 <= last <= lengths[path]:
            missing.append(f"{place} (the file has {lengths[path]} lines)")
        else:
            found.append(place)
    return Evidence(found=tuple(found), missing=tuple(missing))


def _lines(file: Path, root: Path) -> int:
    """How many lines a file has, -1 when there is none in the folder."""
    try:
        real = file.resolve()
        if not real.is_relative_to(root.resolve()) or not real.is_file() or real.stat().st_size > _LARGEST_BYTES:
            return -1
        return len(real.read_bytes().splitlines())
    except OSError:  # not ours to read: no evidence
        return -1
