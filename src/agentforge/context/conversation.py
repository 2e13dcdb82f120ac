"""The `conversation` context policy: the whole history, append-only, as long as the model's window holds it.

The front (instructions, tool schemas) never changes within a session, and behind it the history only grows: what was sent is
sent again byte for byte, so that a provider's cache knows it. From 70 % of what a conversation may fill the user is warned; at
80 % its oldest part becomes a summary (session/compaction.py) beside what the user said and attached, which stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentforge.context.budget import output_room
from agentforge.context.minimal import StepContext, tool_tokens
from agentforge.context.window import blocks, entry_tokens, fitted, history_tokens, without_repeats
from agentforge.events.state.talk import Entry, Talk
from agentforge.frozen import dataclass
from agentforge.messages import Message, Text, ToolCall, ToolSchema, picture_from
from agentforge.tokens import count_tokens, cut_end

OVERHEAD = 40
"""Tokens for message framing."""
WARN_PERCENT = 70
COMPACT_PERCENT = 80
_WINDOW_PERCENT = 95
"""A window that the room for the answer makes small is not filled to its last token before the history is compacted."""
_LONGEST_SUMMARY = 8_000
_LEAST_RESULT = 200
_REMINDER_TOKENS = 300
_TAIL_PART = 10
"""This part of what a conversation may fill stays word for word behind a summary."""
_LEAST_GAIN = 3
"""A compaction has to free at least one part in so many of what it may replace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens that a request of the conversation may hold, by our own count.

    Attributes:
        total: what a conversation may fill of the model's window, the answer included; what the user handed over comes on top.
        window: what the model takes at the very most, the room for its answer taken off.
    """

    total: int
    window: int

    @classmethod
    def of(cls, *, window: int, wanted: int, output: int, factor: float = 1.0, refused: int = 0) -> Budget:
        """The budget for a model's window.

        Args:
            window: tokens that the model takes, its answer included.
            wanted: tokens of it that the settings allow a conversation.
            output: tokens that are kept free for the answer.
            factor: tokens by the provider's count for one of ours (Talk.token_factor).
            refused: fewer tokens than that, because the model refused more as too long; 0 = it refused none.
        """
        held = int((window - output_room(window=window, output=output)) / factor)
        held = max(1_000, min(held, refused) if refused else held)
        return cls(total=max(1_000, min(int(min(wanted, window) / factor), held * 100 // COMPACT_PERCENT)), window=held)

    def with_material(self, tokens: int) -> Budget:
        """The budget of a conversation in which the user said and handed over so much: it comes on top, as far as the
        window goes."""
        return replace(self, total=max(self.total, min(self.total + tokens, self.window * 100 // COMPACT_PERCENT)))

    @property
    def warn_at(self) -> int:
        """Tokens of a request from which the user is warned."""
        return self.compact_at * WARN_PERCENT // COMPACT_PERCENT

    @property
    def compact_at(self) -> int:
        """Tokens of a request from which the oldest part of the history is compacted."""
        return min(self.total * COMPACT_PERCENT // 100, self.window * _WINDOW_PERCENT // 100)

    @property
    def summary(self) -> int:
        """Tokens of what stands for compacted entries."""
        return max(200, min(_LONGEST_SUMMARY, self.total // 10))

    def material(self, fixed: int) -> int:
        """Tokens that the user's words and what they hand over may have together: room for work is kept beside them.

        Args:
            fixed: tokens of a request beside its history.
        """
        return max(0, self.window * 85 // 100 - fixed - self.summary)

    def result(self, talk: Talk, *, fixed: int, calls: int, most: int) -> int:
        """Tokens that the next result of a tool may have: what is wanted, as far as the window holds it once the history
        is compacted. Results of one reply share where it does not hold all of them.

        Args:
            calls: of the reply that have no result yet.
            most: tokens that the settings allow one result.
        """
        step = blocks(talk.entries)[-1] if talk.entries else ()
        taken = fixed + user_tokens(talk.entries) + self.summary + history_tokens(step)
        return max(_LEAST_RESULT, min(most, (self.window * 90 // 100 - taken) // max(1, calls)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a compaction would do now.

    Attributes:
        entries: how many of the history, from the oldest, it takes.
        kept: positions among them that stay as they are: what the user said and handed over.
    """

    entries: int
    kept: tuple[int, ...]


def build_request(
    talk: Talk, *, system: str, tools: Sequence[ToolSchema], budget: Budget, situation: str = ""
) -> StepContext:
    """Build what is sent for the next step of a conversation.

    Args:
        system: instructions; byte-stable within a session.
        situation: what the model should know now (todos, what runs in the background); it stands behind the history, and the
            user's current request behind it.
    """
    front = count_tokens(system) + sum(map(tool_tokens, tools))
    note = state_note(situation, talk.said)
    room = budget.window - front - OVERHEAD - count_tokens(note)
    window = fitted(without_repeats(talk.entries), room=room)
    messages = [
        Message(role="system", parts=(Text(text=system, stable=True),)),
        *_marked(window.entries),
        *([Message(role="user", parts=(Text(text=note),))] if note else ()),
    ]
    sections = {
        "system_prompt": count_tokens(system),
        "available_actions": front - count_tokens(system),
        "history": sum(entry_tokens(entry) for entry in window.entries if entry.kind != "tool"),
        "observations": sum(entry_tokens(entry) for entry in window.entries if entry.kind == "tool"),
        "situation": count_tokens(note),
    }
    holding = budget.with_material(user_tokens(talk.entries))
    return StepContext(
        messages=tuple(messages),
        tools=tuple(tools),
        sections=sections,
        budget=holding.total,
        window=budget.window,
        left_out=window.left,
    )


STATE_HEADING = "[state of the session, kept by the program]\n"
_REQUEST_HEADING = "The user's current request, which stands above as well:\n"


def state_note(situation: str, said: str) -> str:
    """The last message of a request where the program has something to say: it ends with the user's current request."""
    if not situation:
        return ""
    reminder = f"\n\n{_REQUEST_HEADING}{cut_end(said, limit=_REMINDER_TOKENS)}" if said else ""
    return f"{STATE_HEADING}{situation}{reminder}"


def situation_in(note: str, said: str) -> str:
    """What the program had to say in a message that `state_note` wrote; "" for any other message."""
    if not note.startswith(STATE_HEADING):
        return ""
    return note.removeprefix(STATE_HEADING).removesuffix(state_note("x", said).removeprefix(f"{STATE_HEADING}x"))


def user_tokens(entries: Sequence[Entry]) -> int:
    """What the user's words, and what they handed over, cost."""
    return sum(entry_tokens(entry) for entry in entries if entry.kind == "user")


def compactable(talk: Talk, *, budget: Budget, fixed: int, asked: bool = False) -> Compaction | None:
    """What a compaction would do now; None, because none has to be or nothing is gained.

    The last part of the history stays as it is, and of the rest the user's words with all that they handed over, as far as
    that fits: the first message before all others, then the newest.

    Args:
        fixed: tokens of a request beside its history.
        asked: the user wants it; else only a history that fills its share of the window is compacted.
    """
    entries = without_repeats(talk.entries)
    said, spent = user_tokens(entries), history_tokens(entries)
    whole = budget.with_material(said)
    if not entries or (not asked and fixed + spent < whole.compact_at):
        return None
    count, tail = _taken(entries, most=min(whole.total // _TAIL_PART, (spent - said) // 3))
    room = whole.compact_at - fixed - tail - whole.summary - whole.total // 20
    kept = _kept(entries[:count], room=room)
    freed = sum(entry_tokens(entry) for place, entry in enumerate(entries[:count]) if place not in kept)
    gain = freed - min(whole.summary, freed // 2)
    if freed <= 0 or (not asked and gain * _LEAST_GAIN < freed + tail):
        return None
    return Compaction(entries=count, kept=kept)


def _taken(entries: Sequence[Entry], *, most: int) -> tuple[int, int]:
    """How many entries lie before the part that stays as it is, and what that part costs beside the user's words.

    Args:
        most: tokens that it may cost; the last step stays in any case.
    """
    parts = blocks(entries)
    index, tail = len(parts), 0
    while index > 0:
        cost = history_tokens(parts[index - 1]) - user_tokens(parts[index - 1])
        if index < len(parts) and tail + cost > most:
            break
        index, tail = index - 1, tail + cost
    return sum(map(len, parts[:index])), tail


def _kept(entries: Sequence[Entry], *, room: int) -> tuple[int, ...]:
    """The positions of the user's messages that stay: the first, then from the newest, as far as they fit."""
    places = [place for place, entry in enumerate(entries) if entry.kind == "user"]
    kept = []
    for place in dict.fromkeys([*places[:1], *reversed(places)]):
        cost = entry_tokens(entries[place])
        if cost <= room:
            kept.append(place)
            room -= cost
    return tuple(sorted(kept))


def _marked(entries: Sequence[Entry]) -> list[Message]:
    """The history as messages; a provider may cache up to the user's last message, and up to the end."""
    messages = [message for block in blocks(entries) for message in _block_messages(block)]
    said = [place for place, message in enumerate(messages) if message.role == "user"]
    for index in {*said[-1:], len(messages) - 1}:
        if 0 <= index < len(messages) and messages[index].parts:
            parts = messages[index].parts
            messages[index] = replace(messages[index], parts=(*parts[:-1], replace(parts[-1], stable=True)))
    return messages


def _block_messages(block: Sequence[Entry]) -> list[Message]:
    first, results = block[0], list(block[1:])
    if first.kind != "assistant":
        head = {"summary": "Summary of the conversation so far:\n", "note": "[note of the program]\n"}.get(
            first.kind, ""
        )
        parts = _parts(f"{head}{first.text}") or _parts("(an empty message)")
        return [Message(role="user", parts=parts, pictures=tuple(map(picture_from, first.pictures)))]
    ids = _wire_ids(first)
    calls = tuple(
        ToolCall(call_id=wire_id, name=str(call["name"]), arguments=str(call["arguments"]))
        for wire_id, call in zip(ids, first.calls, strict=True)
    )
    return [
        Message(role="assistant", parts=_parts(first.text), tool_calls=calls, kept=first.kept if calls else ()),
        *(_result(entry, ids[index]) for index, entry in enumerate(results[: len(ids)])),
        *_shown_pictures(results[: len(ids)]),
    ]


def _shown_pictures(results: Sequence[Entry]) -> list[Message]:
    """The images that tools gave, as a message of their own: results of tools hold text alone."""
    pictures = tuple(picture_from(one) for entry in results for one in entry.pictures)
    if not pictures:
        return []
    named = ", ".join(one.name for one in pictures)
    return [Message(role="user", parts=_parts(f"[images that the tools above gave: {named}]"), pictures=pictures)]


def _result(entry: Entry, wire_id: str) -> Message:
    text = entry.text if entry.text.strip() else entry.summary.strip() or entry.status or "done"
    return Message(role="tool", parts=_parts(text), tool_call_id=wire_id)


def _wire_ids(reply: Entry) -> list[str]:
    """Ids as every provider takes them: unique over the history, whatever the one that made them thought of that."""
    return [f"call_{reply.turn}_{reply.step}_{index}" for index in range(len(reply.calls))]


def _parts(text: str) -> tuple[Text, ...]:
    return (Text(text=text),) if text.strip() else ()
