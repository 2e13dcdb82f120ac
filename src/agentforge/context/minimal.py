"""The `minimal` context policy: exactly two messages, at most 8,000 tokens, the same shape at step 1 and at step 10,000.

The front (system prompt, tool schemas, task frame, the stage's material) is byte-stable within a stage, so that a provider can
cache it; only the tail (answers, findings, open files, last results) changes from step to step.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agentforge.context.budget import COUNTED_LIMIT, TOKEN_BUDGET, Piece, fit
from agentforge.context.render import render
from agentforge.frozen import dataclass
from agentforge.messages import Message, Text, ToolSchema
from agentforge.tokens import count_tokens, cut_end

FRONT_ROOM = TOKEN_BUDGET["current_state"] * 3 // 5
"""Tokens for the stable part of current_state; the rest is the changing part's."""

_OVERHEAD = 40
"""Tokens for message framing and section headings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInputs:
    """All that one step may show, uncut.

    Attributes:
        system: the stage's prompt.
        frame: task_frame of seed 001 section 3.4: id, goal, success_criteria, phase, constraints.
        material: stable pieces of current_state (artifacts of earlier stages, impacted code).
        situation: changing pieces of current_state (human answers, findings, open files, results), most important first.
        recent: last three actions: {step, action, result, summary}.
        verification: {checks_passing, checks_failing, ready_for_completion, ...}.
    """

    system: str
    frame: Mapping[str, object]
    material: Sequence[Piece]
    situation: Sequence[Piece]
    recent: Sequence[Mapping[str, object]]
    verification: Mapping[str, object]
    tools: tuple[ToolSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What is sent: the messages (two in a stage), the tools, and the tokens of each section by our count.

    Attributes:
        budget: tokens that it might have held; 0 = the policy has one size for all.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    sections: Mapping[str, int]
    budget: int = 0

    @property
    def tokens(self) -> int:
        """Everything that is sent."""
        return sum(self.sections.values()) + _OVERHEAD


def build_step(inputs: StepInputs) -> StepContext:
    """Build the two messages of a step within the budgets.

    Source: seed 001 sections 3.4 and 3.5; docs/adr/0004-stable-front.md.
    """
    tools_cost = sum(tool_tokens(tool) for tool in inputs.tools)
    system = cut_end(inputs.system, limit=TOKEN_BUDGET["system_prompt"])
    frame = cut_end(f"# task_frame\n{render(inputs.frame)}\n", limit=TOKEN_BUDGET["task_frame"])
    recent = _recent(inputs.recent)
    verification = cut_end(
        f"# verification_status\n{render(inputs.verification)}\n", limit=TOKEN_BUDGET["verification_status"]
    )
    actions = (
        f"# available_actions\n{', '.join(tool.name for tool in inputs.tools)} (their schemas are sent as tools)\n"
    )
    # The front's room depends on nothing that changes from step to step, or it would not stay byte-stable.
    fixed = sum(map(count_tokens, (system, frame, actions))) + tools_cost + _OVERHEAD
    reserve = TOKEN_BUDGET["recent_actions"] + TOKEN_BUDGET["verification_status"]
    room = min(TOKEN_BUDGET["current_state"], COUNTED_LIMIT - fixed - reserve)
    front, used = fit(inputs.material, room=min(FRONT_ROOM, room * 3 // 5))
    tail, _ = fit(inputs.situation, room=room - used)
    lasting, passing = _pieces(front), _pieces(tail)
    stable = f"{frame}\n# current_state\n{lasting}"
    changing = f"{passing}\n{recent}\n{verification}\n{actions}"
    messages = (
        Message(role="system", parts=(Text(text=system, stable=True),)),
        Message(role="user", parts=(Text(text=stable, stable=True), Text(text=changing))),
    )
    sections = {
        "system_prompt": count_tokens(system),
        "task_frame": count_tokens(frame),
        "current_state": count_tokens(lasting) + count_tokens(passing),
        "recent_actions": count_tokens(recent),
        "verification_status": count_tokens(verification),
        "available_actions": count_tokens(actions) + tools_cost,
    }
    return StepContext(messages=messages, tools=inputs.tools, sections=sections)


def tool_tokens(tool: ToolSchema) -> int:
    """What offering a tool costs."""
    return count_tokens(tool.name) + count_tokens(tool.description) + count_tokens(json.dumps(tool.parameters)) + 8


def _recent(actions: Sequence[Mapping[str, object]]) -> str:
    if not actions:
        return "# recent_actions\nnone yet\n"
    return cut_end(f"# recent_actions\n{render(list(actions))}\n", limit=TOKEN_BUDGET["recent_actions"])


def _pieces(pieces: Sequence[Piece]) -> str:
    return "".join(f"## {piece.name}\n{piece.shown.rstrip()}\n" for piece in pieces)
