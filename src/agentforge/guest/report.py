"""What a guest said and did, gathered from its updates; bounded, whatever it sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MOST_UPDATES = 2000
_MOST_BYTES = 1_000_000
_LONGEST_ANSWER = 100_000
_LONGEST_TEXT = 4000
_CHUNKS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")


class GuestReport:
    """The record of one prompt.

    Attributes:
        ended: the protocol's stop reason, or "timeout" or "calls" where our limits ended it.
        answer: all that it said, the end of it where that is long.
        agent: what it calls itself.
        calls: tool calls that it reported.
        permissions: what it asked for and what it was told: {title, kind, allowed, reason}.
        usage: tokens by kind, as it reported them; empty when it did not.
        cost_usd: as it reported it; None when it did not.
        dropped: updates that were not kept.
    """

    def __init__(self) -> None:
        self.ended = ""
        self.answer = ""
        self.agent = ""
        self.permissions: list[dict[str, Any]] = []
        self.usage: dict[str, int] = {}
        self.cost_usd: float | None = None
        self.dropped = 0
        self._calls: set[str] = set()
        self._updates: list[dict[str, Any]] = []
        self._bytes = 0

    @property
    def calls(self) -> int:
        """How many tool calls there were."""
        return len(self._calls)

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The updates in order; pieces of text that follow each other are joined."""
        return self._updates

    def add(self, update: Mapping[str, Any]) -> None:
        """Take one update."""
        kind = str(update.get("sessionUpdate", ""))
        if kind in ("tool_call", "tool_call_update"):
            self._calls.add(str(update.get("toolCallId", "")))
        elif kind == "agent_message_chunk":
            self.answer = (self.answer + _text_of(update))[-_LONGEST_ANSWER:]
        elif kind == "usage_update":
            self._count(update)
        self._keep(kind, update)

    def count_usage(self, usage: object) -> None:
        """Take the tokens of the whole prompt."""
        if isinstance(usage, Mapping):
            self.usage = {str(name): value for name, value in usage.items() if isinstance(value, int)}

    def _count(self, update: Mapping[str, Any]) -> None:
        cost = update.get("cost")
        amount = cost.get("amount") if isinstance(cost, Mapping) and cost.get("currency") == "USD" else None
        if isinstance(amount, int | float) and amount >= 0:
            self.cost_usd = float(amount)

    def _keep(self, kind: str, update: Mapping[str, Any]) -> None:
        if kind in _CHUNKS:
            shown: dict[str, Any] = {"sessionUpdate": kind, "text": _text_of(update)}
            last = self._updates[-1] if self._updates else {}
            if last.get("sessionUpdate") == kind and len(last["text"]) < _LONGEST_TEXT:
                last["text"] += shown["text"]
                self._bytes += len(shown["text"])
                return
        else:
            shown = _shortened(dict(update))
        size = len(json.dumps(shown))
        if len(self._updates) >= _MOST_UPDATES or self._bytes + size > _MOST_BYTES:
            self.dropped += 1
            return
        self._bytes += size
        self._updates.append(shown)


def _text_of(update: Mapping[str, Any]) -> str:
    content = update.get("content")
    text = content.get("text") if isinstance(content, Mapping) else None
    return text if isinstance(text, str) else ""


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}... ({len(value)} characters)"
    if isinstance(value, dict):
        return {str(name): _shortened(item) for name, item in value.items()}
    return [_shortened(item) for item in value] if isinstance(value, list) else value
