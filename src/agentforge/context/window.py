"""What the parts of a history cost, and what stands for a result where a request would else be too long. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from agentforge.context.printed import WAYS_TO_SEE, cut_printed
from agentforge.events.state.talk import Entry
from agentforge.frozen import dataclass
from agentforge.tokens import count_tokens, cut_middle

MESSAGE_TOKENS = 6
CALL_TOKENS = 12
PICTURE_TOKENS = 1_600
"""What an image costs at the most where providers make large ones smaller."""
_LONG_ARGUMENT = 200
_ARGUMENT_HEAD = 80
_WORTH_NAMING = 60
"""Tokens from which a repeated observation is replaced by a word about the first."""
_LEAST_SHARE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A history as it is shown.

    Attributes:
        entries: in order.
        left: results of tools that are not shown whole: {name, lines, level, tokens, why}.
    """

    entries: tuple[Entry, ...]
    left: tuple[Mapping[str, object], ...] = ()


def blocks(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """The parts of a history that cannot be taken apart: a message, or a reply with all its results."""
    out: list[list[Entry]] = []
    for entry in entries:
        if entry.kind == "tool" and out:
            out[-1].append(entry)
        else:
            out.append([entry])
    return [tuple(block) for block in out]


def without_repeats(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The history whole; a result that stands above word for word is not shown again."""
    seen: set[str] = set()
    shown = []
    for entry in entries:
        if entry.kind != "tool":
            shown.append(entry)
            continue
        known = entry.text in seen and count_tokens(entry.text) > _WORTH_NAMING
        seen.add(entry.text)
        line = f"[{entry.status}] {entry.summary} (word for word the same as the result above, nothing changed)"
        shown.append(replace(entry, text=line) if known else entry)
    return tuple(shown)


def fitted(entries: Sequence[Entry], *, room: int) -> Window:
    """Make a history fit that no compaction made small enough: results of tools become short, what people said never does.

    The oldest results become one line each, one after the other; then those of the last step are cut in their middle.
    """
    shown = list(entries)
    over = history_tokens(shown) - room
    if over <= 0:
        return Window(entries=tuple(shown))
    last = len(shown) - len(blocks(shown)[-1]) if shown else 0
    left: list[Mapping[str, object]] = []
    for place, entry in enumerate(shown[:last]):
        if over <= 0:
            break
        gain = _put(shown, place, shortened(entry), left)
        over -= gain
    if over > 0:
        _cut_last(shown, last, over, left)
    return Window(entries=tuple(shown), left=tuple(left))


def _cut_last(shown: list[Entry], last: int, over: int, left: list[Mapping[str, object]]) -> None:
    """Cut the results of the last step to equal shares of what they may have."""
    places = [place for place in range(last, len(shown)) if shown[place].kind == "tool"]
    room = sum(count_tokens(shown[place].text) for place in places) - over
    for place in places:
        share = max(_LEAST_SHARE, room // len(places))
        _put(shown, place, replace(shown[place], text=_cut(shown[place], share)), left)


def _cut(entry: Entry, limit: int) -> str:
    if entry.name in WAYS_TO_SEE:
        return cut_printed(entry.text, limit=limit, note=WAYS_TO_SEE[entry.name])
    return cut_middle(entry.text, limit=limit)


def _put(shown: list[Entry], place: int, short: Entry, left: list[Mapping[str, object]]) -> int:
    """Show an entry in its short form; what that saves."""
    gain = entry_tokens(shown[place]) - entry_tokens(short)
    if gain <= 0:
        return 0
    name = shown[place].summary or shown[place].name or "arguments of a call"
    left.append({"name": name, "lines": "", "level": "likely", "tokens": gain, "why": "no room in the model's window"})
    shown[place] = short
    return gain


def entry_tokens(entry: Entry) -> int:
    """What an entry costs in a request."""
    calls = sum(count_tokens(str(call.get("arguments", ""))) + CALL_TOKENS for call in entry.calls)
    return count_tokens(entry.text) + calls + MESSAGE_TOKENS + PICTURE_TOKENS * len(entry.pictures)


def history_tokens(entries: Sequence[Entry]) -> int:
    """What a history costs in a request, as it is."""
    return sum(map(entry_tokens, entries))


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
