"""The `conversation` context policy: a history that stays provider-valid, bounded, and mostly append-only.

The front (instructions, tool schemas) never changes within a session. Behind it the history grows until a category is full;
then the oldest observations become one line each, many at once, so that the prefix a provider has cached stays the same for
as many steps as possible (context/window.py). What no shortening can hold is compacted (session/compaction.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.context.budget import output_room
from agentforge.context.minimal import StepContext, tool_tokens
from agentforge.context.window import Window, blocks, entry_tokens, fitted, seen_through, skeleton_tokens
from agentforge.frozen import dataclass
from agentforge.messages import Message, Text, ToolCall, ToolSchema
from agentforge.tokens import count_tokens, cut_end

if TYPE_CHECKING:
    from agentforge.events.state.talk import Entry, Talk

OVERHEAD = 40
"""Tokens for message framing."""

_LEAST_ROOM = 600
_LEAST_GAIN = 5
"""A compaction has to free at least one part in so many of the history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Tokens that the categories of a history may use.

    Attributes:
        room: all of it.
        summary: what stands for compacted entries.
        observations: results and arguments that are shown whole, together; more, and the older ones are shortened.
        history: what was said and one line per call; more, and the oldest part is compacted.
        message: one message of the user.
    """

    room: int
    summary: int
    observations: int
    history: int
    message: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens that a request of the conversation may hold.

    Attributes:
        total: everything that is sent.
    """

    total: int

    @classmethod
    def of(cls, *, window: int, wanted: int, output: int, factor: float = 1.0) -> Budget:
        """The budget for a model's window.

        Args:
            window: tokens that the model takes, its answer included.
            wanted: tokens that the settings allow a request.
            output: tokens that are kept free for the answer.
            factor: tokens by the provider's count for one of ours (Talk.token_factor).
        """
        total = min(wanted, window - output_room(window=window, output=output))
        return cls(total=max(1_000, int(total / factor)))

    @property
    def observations(self) -> int:
        """Tokens that all observations shown whole may use, the front not yet taken off."""
        return self.total * 3 // 10

    def observation(self, calls: int) -> int:
        """Tokens that one observation may cost in a reply of so many calls: side by side they share."""
        return max(200, self.total * (24 if calls <= 1 else 17) // 100 // max(1, calls))

    def limits(self, fixed: int) -> Limits:
        """The categories of the history.

        Args:
            fixed: tokens of a request beside its history.
        """
        room = max(_LEAST_ROOM, self.total - fixed)
        return Limits(
            room=room,
            summary=room // 10,
            observations=room * 3 // 10,
            history=room // 10,
            message=room // 3,
        )


def build_request(
    talk: Talk, *, system: str, tools: Sequence[ToolSchema], budget: Budget, situation: str = ""
) -> StepContext:
    """Build what is sent for the next step of a conversation.

    Args:
        system: instructions; byte-stable within a session.
        situation: what the model should know now (todos, mode); pinned facts are added where they left the history.
    """
    front = count_tokens(system) + sum(map(tool_tokens, tools))
    limits = budget.limits(front + OVERHEAD)
    window = seen_through(talk.entries, observations=limits.observations, message=limits.message)
    tail = "\n\n".join(part for part in (situation, pinned(talk, window, room=limits.room // 8)) if part)
    tail = f"{STATE_HEADING}{tail}" if tail else ""
    window = fitted(window, room=limits.room - count_tokens(tail))
    messages = [
        Message(role="system", parts=(Text(text=system, stable=True),)),
        *_marked(window),
        *([Message(role="user", parts=(Text(text=tail),))] if tail else ()),
    ]
    sections = {
        "system_prompt": count_tokens(system),
        "available_actions": front - count_tokens(system),
        "history": sum(entry_tokens(entry) for entry in window.entries if entry.kind != "tool"),
        "observations": sum(entry_tokens(entry) for entry in window.entries if entry.kind == "tool"),
        "situation": count_tokens(tail),
    }
    return StepContext(messages=tuple(messages), tools=tuple(tools), sections=sections, budget=budget.total)


STATE_HEADING = "[state of the session, kept by the program]\n"


def pinned(talk: Talk, window: Window, *, room: int) -> str:
    """What must not be lost with the entries that are no longer shown whole; "" while all of them are."""

    if not window.lost and not talk.compactions:
        return ""
    shown = {entry.text for entry in window.entries if entry.kind == "user"}
    asked = [text for text in (talk.goal, *talk.asked, talk.said) if text and text not in shown]
    words = list(dict.fromkeys(" ".join(text.split())[:400] for text in asked))
    lines = [f"The user asked: {text}" for text in words]
    if talk.changed_paths:
        lines.append(f"Files changed so far: {', '.join(talk.changed_paths)}")
    if talk.last_command and not _is_shown(talk.last_command, window):
        lines.append(f"Last command: {talk.last_command}")
    return "\n".join(cut_end(line, limit=max(60, room // 3)) for line in lines[:1] + lines[1:][-6:])


def _is_shown(command: str, window: Window) -> bool:
    """Whether the call of a command stands in the history as it was made."""
    line = json.dumps(command.rpartition(" -> ")[0] or command)[1:-1]
    calls = (call for entry in window.entries for call in entry.calls)
    return any(line in str(call.get("arguments", "")) for call in calls)


def compactable(talk: Talk, *, budget: Budget, fixed: int, asked: bool = False) -> int:
    """How many entries, from the oldest, a compaction would replace now; 0 = none, because none has to or nothing is gained.

    Args:
        fixed: tokens of a request beside its history.
        asked: the user wants it; else only a history that outgrew its category is compacted.
    """
    limits = budget.limits(fixed)
    parts = blocks(talk.entries)
    costs = [skeleton_tokens(block, message=limits.message) for block in parts]
    total = sum(costs)
    if not asked and total <= limits.history + limits.summary:
        return 0
    kept, index = 0, len(parts)
    while index > 0 and (index == len(parts) or kept + costs[index - 1] <= limits.history // 3):
        index -= 1
        kept += costs[index]
    gain = total - kept - min(limits.summary, (total - kept) // 2)
    worth = gain * _LEAST_GAIN >= total if not asked else index > 0
    return sum(len(block) for block in parts[:index]) if worth else 0


def _marked(window: Window) -> list[Message]:
    """The history as messages; a provider may cache up to where the shortened part ends, and up to the end."""
    messages = [message for block in blocks(window.entries) for message in _block_messages(block)]
    for index in {window.whole_from - 1, len(messages) - 1}:
        if 0 <= index < len(messages) and messages[index].parts:
            parts = messages[index].parts
            messages[index] = replace(messages[index], parts=(*parts[:-1], replace(parts[-1], stable=True)))
    return messages


def _block_messages(block: Sequence[Entry]) -> list[Message]:
    first, results = block[0], list(block[1:])
    if first.kind != "assistant":
        head = "Summary of the conversation so far:\n" if first.kind == "summary" else ""
        return [Message(role="user", parts=_parts(f"{head}{first.text}".strip() or "(an empty message)"))]
    ids = _wire_ids(first)
    calls = tuple(
        ToolCall(call_id=wire_id, name=str(call["name"]), arguments=str(call["arguments"]))
        for wire_id, call in zip(ids, first.calls, strict=True)
    )
    return [
        Message(role="assistant", parts=_parts(first.text), tool_calls=calls, kept=first.kept if calls else ()),
        *(_result(entry, ids[index]) for index, entry in enumerate(results[: len(ids)])),
    ]


def _result(entry: Entry, wire_id: str) -> Message:
    text = entry.text if entry.text.strip() else entry.summary.strip() or entry.status or "done"
    return Message(role="tool", parts=_parts(text), tool_call_id=wire_id)


def _wire_ids(reply: Entry) -> list[str]:
    """Ids as every provider takes them: unique over the history, whatever the one that made them thought of that."""
    return [f"call_{reply.turn}_{reply.step}_{index}" for index in range(len(reply.calls))]


def _parts(text: str) -> tuple[Text, ...]:
    return (Text(text=text),) if text.strip() else ()
