"""How many repositories were under way at the same time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

Span = tuple[float, float]


def most_at_once(found: Sequence[Mapping[str, Any]]) -> int:
    """In how many repositories tasks were under way at the same time, at most; one that did not end lasts to its last record."""
    spans: dict[object, list[Span]] = {}
    for value in found:
        end = value.get("ended_at") or value.get("last_at") or value["started_at"]
        begin = _moment(value["started_at"])
        spans.setdefault(place_of(value), []).append((begin, max(begin, _moment(end))))
    steps = sorted(
        step
        for repository in spans.values()
        for begin, end in _merged(repository)
        for step in ((begin, 0, 1), (end, 1, -1))  # where one ends as another begins, both are under way
    )
    most = now = 0
    for _, _, change in steps:
        now += change
        most = max(most, now)
    return most


def place_of(value: Mapping[str, Any]) -> object:
    """The repository that a task lies in."""
    folder = value.get("folder")
    return getattr(folder, "parent", None)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _moment(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
