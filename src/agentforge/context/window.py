"""Which part of a history is shown whole, and what stands for the rest. Cuts lie between steps, never within one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from agentforge.events.state.talk import Entry
from agentforge.frozen import dataclass
from agentforge.tokens import count_tokens, cut_middle

MESSAGE_TOKENS = 6
CALL_TOKENS = 12
_LONG_ARGUMENT = 200
_ARGUMENT_HEAD = 80
_WORTH_NAMING = 60
"""Tokens from which a repeated observation is replaced by a word about the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A history as it is shown.

    Attributes:
        entries: in order; shortened ones before `whole_from`.
        whole_from: index of the first entry that is shown whole.
        lost: something that a model might need is not shown whole.
    """

    entries: tuple[Entry, ...]
    whole_from: int = 0
    lost: bool = False


def blocks(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """The parts of a history that cannot be taken apart: a message, or a reply with all its results."""
    out: list[list[Entry]] = []
    for entry in entries:
        if entry.kind == "tool" and out:
            out[-1].append(entry)
        else:
            out.append([entry])
    return [tuple(block) for block in out]


def seen_through(entries: Sequence[Entry], *, observations: int, message: int) -> Window:
    """Show results and arguments whole as far as they fit; a history with more behind it is cut at the same places.

    The oldest are shortened, many at once: a cut goes on until half of the room is free. The last step is always whole.

    Args:
        observations: tokens that all of them may cost.
        message: tokens that one message of the user may cost.
    """
    parts = [_bounded(block, message) for block in blocks(entries)]
    first = _first_whole(parts, observations)
    before = [tuple(map(shortened, block)) for block in parts[:first]]
    whole = _without_repeats(parts[first:])
    lost = any(short != block for short, block in zip(before, parts, strict=False))
    shown = tuple(entry for block in (*before, *whole) for entry in block)
    return Window(entries=shown, whole_from=sum(map(len, before)), lost=lost)


def fitted(window: Window, *, room: int) -> Window:
    """Make a window fit where its categories did not suffice: old parts go, then what is long in the rest is cut."""
    if _tokens(window.entries) <= room:
        return window
    parts = blocks(window.entries)
    parts = [*(tuple(map(shortened, block)) for block in parts[:-1]), *parts[-1:]]
    dropped = 0
    while len(parts) > 2 and sum(map(_tokens, parts)) + 20 > room:
        dropped += len(parts.pop(0))
    if dropped:
        note = f"({dropped} older messages are left out here; the log has them.)"
        parts.insert(0, (Entry(kind="user", turn=0, text=note),))
    shown = tuple(entry for block in parts for entry in block)
    if _tokens(shown) > room:
        shown = _squeezed(shown, room)
    return Window(entries=shown, whole_from=max(0, len(shown) - len(parts[-1])), lost=True)


def entry_tokens(entry: Entry) -> int:
    """What an entry costs in a request."""
    calls = sum(count_tokens(str(call.get("arguments", ""))) + CALL_TOKENS for call in entry.calls)
    return count_tokens(entry.text) + calls + MESSAGE_TOKENS


def skeleton_tokens(block: Sequence[Entry], *, message: int) -> int:
    """What a part costs at least: its observations and long arguments shortened."""
    return _tokens(tuple(map(shortened, _bounded(block, message))))


def shortened(entry: Entry) -> Entry:
    """An observation as one line, a call without its long arguments; the log has the whole, calling again shows it."""
    if entry.kind == "assistant" and entry.calls:
        return replace(entry, calls=tuple(map(_short_call, entry.calls)))
    if entry.kind != "tool":
        return entry
    how = "" if entry.status == "success" else f"[{entry.status}] "
    line = f"{how}{entry.summary} (older; call again to see it)"
    return replace(entry, text=line) if len(line) < len(entry.text) else entry


def _short_call(call: Mapping[str, object]) -> Mapping[str, object]:
    text = str(call.get("arguments", ""))
    return call if len(text) <= _LONG_ARGUMENT else {**call, "arguments": _short_arguments(text)}


@lru_cache(maxsize=64)
def _short_arguments(text: str) -> str:
    """Arguments whose long texts are cut, still valid JSON of the same shape; what is no JSON is shown by its beginning."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        value = {"raw": text}
    short = json.dumps({str(key): _short_value(item) for key, item in value.items()}, ensure_ascii=False)
    return short if len(short) <= 8 * _LONG_ARGUMENT else json.dumps({"raw": _short_value(text)}, ensure_ascii=False)


def _short_value(value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= _LONG_ARGUMENT:
        return value
    return f"{text[:_ARGUMENT_HEAD]} ... ({len(text) - _ARGUMENT_HEAD} characters left out)"


def _bounded(block: Sequence[Entry], message: int) -> tuple[Entry, ...]:
    """What a person pasted does not fill the window."""
    return tuple(
        replace(entry, text=_cut(entry.text, message)) if entry.kind in ("user", "assistant") else entry
        for entry in block
    )


@lru_cache(maxsize=64)
def _cut(text: str, limit: int) -> str:
    """What was pasted is looked through once and not at every step."""
    return cut_middle(text, limit=limit)


def _first_whole(parts: Sequence[tuple[Entry, ...]], room: int) -> int:
    """Index of the first part that is shown whole, found by going through the history as it grew."""
    first, spent = 0, 0
    weights = [_weight(block) for block in parts]
    for index, weight in enumerate(weights):
        spent += weight
        if spent <= room:
            continue
        first, spent = index, weight
        while first > 0 and spent + weights[first - 1] <= room // 2:
            first -= 1
            spent += weights[first]
    return first


def _weight(block: Sequence[Entry]) -> int:
    """Tokens that shortening a part would save."""
    return sum(entry_tokens(entry) - entry_tokens(shortened(entry)) for entry in block if entry.kind != "user")


def _without_repeats(parts: Sequence[tuple[Entry, ...]]) -> list[tuple[Entry, ...]]:
    """A result that stands above word for word is not shown again."""
    seen: dict[str, str] = {}
    out = []
    for block in parts:
        shown = []
        for entry in block:
            known = entry.kind == "tool" and entry.text in seen and count_tokens(entry.text) > _WORTH_NAMING
            if entry.kind == "tool":
                seen.setdefault(entry.text, entry.call_id)
            line = f"[{entry.status}] {entry.summary} (word for word the same as the result above, nothing changed)"
            shown.append(replace(entry, text=line) if known else entry)
        out.append(tuple(shown))
    return out


def _squeezed(entries: tuple[Entry, ...], room: int) -> tuple[Entry, ...]:
    """Cut every text to an equal share of what is left."""
    entries = tuple(replace(entry, calls=tuple(map(_short_call, entry.calls))) for entry in entries)
    bare = sum(entry_tokens(replace(entry, text="")) for entry in entries)
    share = max(16, (room - bare) // max(1, sum(1 for entry in entries if entry.text)))
    return tuple(replace(entry, text=cut_middle(entry.text, limit=share)) for entry in entries)


def _tokens(entries: Sequence[Entry]) -> int:
    return sum(map(entry_tokens, entries))
