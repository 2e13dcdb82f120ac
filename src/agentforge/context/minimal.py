"""The `minimal` context policy: exactly two messages, never over the budget, the same shape at step 1 and at step 10,000.

The front (system prompt, tool schemas, task frame, the stage's law and the places that were named) is byte-stable within a stage,
so that a provider can cache it. The tail changes from step to step: answers, findings, what the model asked for, and then, as far
as there is room, what of the stage's material did not fit into the front.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from agentforge.context.budget import TOKEN_BUDGET, TOTAL_LIMIT, counted_limit
from agentforge.context.packer import PackedPage, fill, law_tokens
from agentforge.context.render import render
from agentforge.context.sections import Level, Piece, Section, View
from agentforge.frozen import dataclass
from agentforge.messages import Message, Text, ToolSchema
from agentforge.tokens import count_tokens, cut_end

_FRONT_SHARE = 60
"""Percent of the least room of current_state that its stable part gets; its law may take more, up to the next bound."""
_TAIL_SHARE = 25
"""Percent of the least room of current_state that is the changing part's, whatever the law of the stage costs."""

_OVERHEAD = 40
"""Tokens for message framing and section headings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInputs:
    """All that one step may show, uncut.

    Attributes:
        system: the stage's prompt.
        frame: what the model is told about its task: id, goal, success_criteria, phase, constraints.
        material: stable sections of current_state (artifacts of earlier stages, impacted code).
        situation: changing sections of current_state (human answers, findings, open files, results), most important first.
        recent: last three actions: {step, action, result, summary}.
        verification: {checks_passing, checks_failing, ready_for_completion, ...}.
        changed: files of the material that are not any more as the material has them.
        budget: tokens that the step may cost.
    """

    system: str
    frame: Mapping[str, object]
    material: Sequence[Section]
    situation: Sequence[Section]
    recent: Sequence[Mapping[str, object]]
    verification: Mapping[str, object]
    tools: tuple[ToolSchema, ...]
    changed: frozenset[str] = frozenset()
    budget: int = TOTAL_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What is sent: the messages (two in a stage), the tools, and the tokens of each section by our count.

    Attributes:
        budget: tokens that it might have held; 0 = nothing bounds it.
        window: tokens that the model takes, the room for its answer taken off; 0 = it does not matter.
        left_out: what was wanted and found no room: {name, lines, level, tokens, why}.
        shown: the lines of files that it shows, by path.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    sections: Mapping[str, int]
    budget: int = 0
    left_out: tuple[Mapping[str, object], ...] = ()
    shown: Mapping[str, frozenset[int]] = field(default_factory=dict)
    window: int = 0

    @property
    def tokens(self) -> int:
        """Everything that is sent."""
        return sum(self.sections.values()) + _OVERHEAD


def build_step(inputs: StepInputs) -> StepContext:
    """Build the two messages of a step within the budgets.

    docs/adr/0004-stable-front.md gives the reasons.
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
    counted = counted_limit(inputs.budget)
    fixed = sum(map(count_tokens, (system, frame, actions))) + tools_cost + _OVERHEAD
    changing = count_tokens(recent) + count_tokens(verification)
    front = _front(inputs, room=counted - fixed - TOKEN_BUDGET["recent_actions"] - TOKEN_BUDGET["verification_status"])
    heading = f"{frame}\n# current_state\n"
    tail = fill(
        (*inputs.situation, *_spilled(inputs, front)), room=counted - fixed - changing - front.tokens, above=front
    )
    messages = (
        Message(role="system", parts=(Text(text=system, stable=True),)),
        Message(
            role="user",
            parts=(
                Text(text=heading + front.text, stable=True),
                Text(text=f"{tail.text}\n{recent}\n{verification}\n{actions}"),
            ),
        ),
    )
    sections = {
        "system_prompt": count_tokens(system),
        "task_frame": count_tokens(frame),
        "current_state": front.tokens + tail.tokens,
        "recent_actions": count_tokens(recent),
        "verification_status": count_tokens(verification),
        "available_actions": count_tokens(actions) + tools_cost,
    }
    return StepContext(
        messages=messages,
        tools=inputs.tools,
        sections=sections,
        budget=inputs.budget,
        left_out=tuple(left.row for left in tail.left),
        shown={
            path: frozenset((*front.shown.get(path, ()), *tail.shown.get(path, ())))
            for path in (*front.shown, *tail.shown)
        },
    )


def _front(inputs: StepInputs, *, room: int) -> PackedPage:
    """The stable part of current_state; its room depends on nothing that changes from step to step."""
    law = law_tokens(inputs.material)
    wanted = max(room * _FRONT_SHARE // 100, law)
    room = max(0, min(wanted, room * (100 - _TAIL_SHARE) // 100))
    page = fill(inputs.material, room=room, least=Level.NAMED)
    cut = [one for one in inputs.material if isinstance(one, View) and _is_cut(one, page)]
    if not cut:
        return page
    last = min(order for one in cut for order in _orders_cut(one, page))
    kept = [one for one in inputs.material if one not in cut]
    page = fill(kept, room=room, least=Level.NAMED, last=last)
    return replace(page, rest=(*page.rest, *cut))


def _is_cut(view: View, page: PackedPage) -> bool:
    """The front holds the places that were named in a file, or the tail does: two views of one file confuse. The law stays."""
    law = any(want.level == Level.LAW for want in view.wants)
    return not law and bool(_orders_cut(view, page))


def _orders_cut(view: View, page: PackedPage) -> set[int]:
    """The orders of what was named in a file and found no room: what is wanted after it may not take its room in the front."""
    shown = page.shown.get(view.path, {}).keys()
    named = (want for want in view.wants if want.level == Level.NAMED)
    return {want.order for want in named if not {*range(want.first, want.last + 1)} <= shown}


def _spilled(inputs: StepInputs, front: PackedPage) -> list[Section]:
    """What of the material the tail shows: nothing that changed since. Once the model has said what it wants, the source of the
    likely places, which it saw before, comes before the lists of places."""
    asked = any(isinstance(one, View) for one in inputs.situation)
    now = [one for one in front.rest if not (isinstance(one, View) and one.path in inputs.changed)]
    return [_after_views(one) for one in now] if asked else now


def _after_views(section: Section) -> Section:
    if isinstance(section, Piece) and section.level == Level.LIKELY:
        return replace(section, level=Level.SKETCH)
    return section


def tool_tokens(tool: ToolSchema) -> int:
    """What offering a tool costs."""
    return count_tokens(tool.name) + count_tokens(tool.description) + count_tokens(json.dumps(tool.parameters)) + 8


def _recent(actions: Sequence[Mapping[str, object]]) -> str:
    if not actions:
        return "# recent_actions\nnone yet\n"
    return cut_end(f"# recent_actions\n{render(list(actions))}\n", limit=TOKEN_BUDGET["recent_actions"])
