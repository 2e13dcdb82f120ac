"""What the plain process tells of its probes: its records, and an answer for each probe."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_RESULTS_BYTES = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What became of a probe.

    Attributes:
        value: the encoded result; None when there is none.
        raised: names of the exception's classes, outermost last, each with whether it is the built-in one.
        lost: the module that the probe needs does not exist under any of its names.
        stage: "import" or "call": where it raised.
        ended: done, ended early, timed out.
    """

    value: Sequence[Any] | None = None
    raised: tuple[tuple[str, bool], ...] = ()
    lost: bool = False
    stage: str = "call"
    message: str = ""
    ended: str = "done"


def genuine_records(data: bytes, nonce: str) -> dict[tuple[int, int], dict[str, Any]]:
    """The records that bear the nonce, by (group, how often the group was told before); torn lines are left out."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    times: dict[int, int] = {}
    for line in data[:_RESULTS_BYTES].splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # torn by the end of the process: the group counts as ended early
        if isinstance(record, dict) and record.get("nonce") == nonce and "group" in record:
            number = int(record["group"])
            found[number, times.get(number, 0)] = record
            times[number] = times.get(number, 0) + 1
    return found


def answers_of(record: Mapping[str, Any] | None, count: int) -> list[CallResult]:
    """An answer for each of the probes of a group; those that told nothing say how the group ended."""
    if record is None:
        return [CallResult(ended="ended early") for _ in range(count)]
    rows = [row for row in record["rows"] if isinstance(row, dict)][:count]
    found = [_answer(row) for row in rows]
    return found + [CallResult(ended=str(record["ended"])) for _ in range(count - len(found))]


def _answer(row: Mapping[str, Any]) -> CallResult:
    if "lost" in row:
        return CallResult(lost=True)
    if "raised" in row:
        raised = tuple((str(name), bool(builtin)) for name, builtin in row["raised"])
        return CallResult(raised=raised, stage=str(row["stage"]), message=str(row["message"]))
    return CallResult(value=row["value"])
