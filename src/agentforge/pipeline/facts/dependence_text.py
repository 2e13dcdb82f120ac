"""Measured dependencies in words: what changes the result of a call though its arguments are the same, and new effects."""

from __future__ import annotations

from collections.abc import Iterator

from agentforge.pipeline.model.stage import Json, items

_TOLD = 6


def dependency_lines(measured: Json) -> list[str]:
    """Sentences for the report about what differs under other circumstances and does not refuse."""
    lines = list(dict.fromkeys(_lines(measured)))
    more = (
        [f"{len(lines) - _TOLD} more dependencies and effects are in the facts of GREEN"] if len(lines) > _TOLD else []
    )
    return [*lines[:_TOLD], *more]


def _lines(measured: Json) -> Iterator[str]:
    if measured.get("stopped") is True:
        yield "not every circumstance was tried: the time for repeating calls was over"
    for row in items(measured.get("found")):
        if row.get("decides") is True:
            continue
        results = f": {row['before']} became {row['after']}" if row.get("before") and row.get("after") else ""
        circumstance = str(row.get("circumstance"))
        if circumstance.startswith("and "):
            yield f"{row.get('call')} gives its result {circumstance}"
        else:
            yield f"{row.get('call')} gives another result {circumstance}{results}"
    for row in items(measured.get("effects")):
        detail = f" ({row['detail']})" if row.get("detail") else ""
        yield f"{row.get('call')} has an effect of a kind that the base had not: {row.get('kind')}{detail}"
