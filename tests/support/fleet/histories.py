"""Histories of the queue: what workers asked of it and were told, and whether one order of all that explains it.

A history is linearizable when every operation can be given a moment between its call and its answer such that the queue, used
by one client alone, would have answered so. An operation whose answer was lost may have happened at any moment after its call, or
never. Each job is looked at by itself: no operation's answer about one job depends on another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

LOST = float("inf")


@dataclass(frozen=True, slots=True)
class Operation:
    """One call. `answered` is LOST, and `result` None, when the answer never came."""

    name: str
    worker: str
    attempt: int
    to: str
    called: float
    answered: float
    result: bool | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A job in a queue that one client uses alone."""

    status: str = "queued"
    attempt: int = 0
    worker: str = ""


def outcomes(standing: Standing, operation: Operation) -> Iterator[Standing]:
    """What may come of an operation, so that it could have been answered as it was."""
    mine = (standing.worker, standing.attempt) == (operation.worker, operation.attempt)
    if operation.name == "claim":
        if standing.status == "queued" and operation.attempt == standing.attempt + 1:
            yield Standing("running", operation.attempt, operation.worker)
        elif standing.status == "running" and mine and operation.result:
            yield standing
    elif operation.name == "end":
        holds = standing.status == "running" and mine
        stands = standing.status == operation.to and mine
        if operation.result is not False and (holds or stands):
            yield Standing(operation.to, standing.attempt, standing.worker)
        if operation.result is False and not (holds or stands):
            yield standing
    elif operation.name == "take_back":
        if operation.result is not False and standing.status == "running" and standing.attempt == operation.attempt:
            yield Standing(operation.to, standing.attempt, "")
        if operation.result is False:
            yield standing


def explains(history: Sequence[Operation], last: Standing) -> bool:
    """Whether some order of a job's operations gives all the answers and ends where the job stands (Wing and Gong, with memory)."""
    certain = sorted((item for item in history if item.result is not None), key=lambda item: item.called)
    lost = [item for item in history if item.result is None]
    seen: set[tuple[frozenset[int], frozenset[int], Standing]] = set()
    stack: list[tuple[frozenset[int], frozenset[int], Standing]] = [(frozenset(), frozenset(), Standing())]
    while stack:
        found = stack.pop()
        if found in seen:
            continue
        seen.add(found)
        done, happened, standing = found
        left = [number for number in range(len(certain)) if number not in done]
        if not left and standing == last:
            return True
        ends = min((certain[number].answered for number in left), default=LOST)
        for number in left:
            if certain[number].called > ends:
                break
            stack.extend((done | {number}, happened, after) for after in outcomes(standing, certain[number]))
        for number, item in enumerate(lost):
            if number not in happened and item.called <= ends:
                stack.extend((done, happened | {number}, after) for after in outcomes(standing, item))
    return False


def standing_of(row: Any) -> Standing:
    """Where a job of the ledger stands at the end."""
    return Standing(row.status, row.attempt, row.worker)
