"""The `conversation` context policy: a history that stays provider-valid, bounded, and mostly append-only.

The front (instructions, tool schemas) never changes within a session. Behind it the history grows until the budget is
reached; then the oldest observations become one line each, many at once, so that the prefix a provider has cached stays
the same for as many steps as possible. What no pruning can hold is compacted into a summary (session/compaction.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.context.minimal import StepContext, tool_tokens
from agentforge.events.talk import Entry, Talk
from agentforge.frozen import dataclass
from agentforge.messages import Message, Text, ToolCall, ToolSchema
from agentforge.tokens import count_tokens

_MESSAGE_TOKENS = 6
KEPT_STEPS = 1
"""Steps whose observations are never pruned: the model has not answered them yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens that a request of the conversation may hold, by category.

    Attributes:
        total: everything that is sent.
        observations: results of tools, together.
    """

    total: int
    observations: int

    @classmethod
    def of(cls, *, window: int, wanted: int, output: int) -> Budget:
        """The budget for a model's window.

        Args:
            window: tokens that the model takes, its answer included.
            wanted: tokens that the settings allow a request.
            output: tokens that are kept free for the answer.
        """
        total = max(1_000, min(wanted, window - min(output, window // 3)))
        return cls(total=total, observations=total // 2)


def build_request(
    talk: Talk, *, system: str, tools: Sequence[ToolSchema], budget: Budget, situation: str = ""
) -> StepContext:
    """Build what is sent for the next step of a conversation.

    Args:
        system: instructions; byte-stable within a session.
        situation: what the model should know now (todos, mode, pinned facts); goes behind the history.
    """
    fixed = count_tokens(system) + sum(map(tool_tokens, tools)) + count_tokens(situation) + 40
    entries = pruned(talk.entries, room=budget.total - fixed, observations=budget.observations)
    messages = [Message(role="system", parts=(Text(text=system, stable=True),)), *_messages(entries)]
    if situation:
        messages = _with_situation(messages, situation)
    history = sum(entry_tokens(entry) for entry in entries)
    sections = {
        "system_prompt": count_tokens(system),
        "history": history,
        "situation": count_tokens(situation),
        "available_actions": sum(map(tool_tokens, tools)),
    }
    return StepContext(messages=tuple(messages), tools=tuple(tools), sections=sections)


def pruned(entries: Sequence[Entry], *, room: int, observations: int) -> tuple[Entry, ...]:
    """Shorten old observations to one line each, until what is left fits.

    The same history with more behind it is cut at the same places as long as possible: a cut frees half of the room.
    """
    del room
    costs = [entry_tokens(entry) for entry in entries]
    last_step = max((entry.step for entry in entries), default=0)
    out = list(entries)
    spent = 0
    first_kept = 0
    for index, entry in enumerate(entries):  # from the oldest, as the history grew
        if entry.kind != "tool":
            continue
        spent += costs[index]
        if spent > observations:
            for older in range(first_kept, index):
                if entries[older].kind == "tool" and entries[older].step <= last_step - KEPT_STEPS:
                    out[older] = shortened(entries[older])
            first_kept, spent = index, costs[index]
    return tuple(out)


def shortened(entry: Entry) -> Entry:
    """An observation as one line; the whole text is in the log and can be got by calling again."""
    from dataclasses import replace

    return replace(entry, text=f"[{entry.status}] {entry.summary} (older result, left out; call again to see it)")


def entry_tokens(entry: Entry) -> int:
    """What an entry costs in a request."""
    calls = sum(count_tokens(str(call.get("arguments", ""))) + 12 for call in entry.calls)
    return count_tokens(entry.text) + calls + _MESSAGE_TOKENS


def _messages(entries: Sequence[Entry]) -> list[Message]:
    return [_message(entry) for entry in entries]


def _message(entry: Entry) -> Message:
    if entry.kind == "assistant":
        return Message(role="assistant", parts=_parts(entry.text), tool_calls=tuple(map(_call, entry.calls)))
    if entry.kind == "tool":
        return Message(role="tool", parts=_parts(entry.text or entry.summary), tool_call_id=entry.call_id)
    if entry.kind == "summary":
        return Message(role="user", parts=_parts(f"Summary of the conversation so far:\n{entry.text}"))
    return Message(role="user", parts=_parts(entry.text))


def _parts(text: str) -> tuple[Text, ...]:
    return (Text(text=text),) if text else ()


def _call(value: Mapping[str, object]) -> ToolCall:
    return ToolCall(call_id=str(value["call_id"]), name=str(value["name"]), arguments=str(value["arguments"]))


def _with_situation(messages: list[Message], situation: str) -> list[Message]:
    """Behind the history: a user's message of its own would stand between a call and its results' answer nowhere."""
    return [*messages, Message(role="user", parts=(Text(text=situation),))]


def must_compact(talk: Talk, *, budget: Budget, fixed: int) -> bool:
    """Whether the history, pruned as far as it goes, no longer fits a request.

    Args:
        fixed: tokens of a request beside its history.
    """
    if talk.since_compaction < 2:  # the last compaction left nothing to gain
        return False
    kept = pruned(talk.entries, room=budget.total - fixed, observations=budget.observations)
    return sum(map(entry_tokens, kept)) > (budget.total - fixed) * 9 // 10
