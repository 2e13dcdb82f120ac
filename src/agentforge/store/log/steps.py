"""The records of one step, found by halving the log: as quick at step 10,000 as at step 10, and no index that could be wrong.

Step numbers never fall from record to record. That no record of the log was altered is checked first (store.intact).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from agentforge.errors import IntegrityError
from agentforge.store.log.intact import look_at
from agentforge.store.log.reader import LOG
from agentforge.store.log.records import Record, read_line

_NUMBERED = frozenset(
    {"ModelCalled", "ModelReplied", "ModelFailed", "ToolStarted", "ToolFinished", "StepFinished", "ArtifactSubmitted"}
)
_TAIL_BYTES = 65_536


def records_of_step(folder: Path, step: int) -> list[Record]:
    """The records from the first request of a step up to the next step, or up to the next stage; [] = no such step.

    What was measured and judged because of the step stands among them.

    Raises:
        IntegrityError: there is no log, or a record of it was altered or damaged.
    """
    look_at(folder)
    with _opened(folder) as file:
        file.seek(_first(file, step))
        found: list[Record] = []
        for line in _whole_lines(file):
            number = _number(line)
            if (number is not None and number > step) or (found and _value(line).get("type") == "StageStarted"):
                break
            if found or number == step:
                found.append(_checked(line, found[-1] if found else None))
        return found


def last_step(folder: Path) -> int:
    """The number of the last step, 0 when there is none.

    Raises:
        IntegrityError: there is no log, or no record where one should be.
    """
    with _opened(folder) as file:
        size = file.seek(0, 2)
        back = _TAIL_BYTES
        while True:
            file.seek(max(0, size - back))
            if back < size:
                file.readline()
            numbers = [number for line in _whole_lines(file) if (number := _number(line)) is not None]
            if numbers or back >= size:
                return max(numbers, default=0)
            back *= 4


def _first(file: BinaryIO, step: int) -> int:
    """Where a line begins such that no line before it is of the step or of a later one."""
    low, high = 0, file.seek(0, 2)
    while low < high:
        middle = (low + high) // 2
        number = _number_from(file, middle)
        if number is None or number >= step:
            high = middle
        else:
            low = middle + 1
    return _line_start(file, low)


def _line_start(file: BinaryIO, place: int) -> int:
    """Where the first line at or after a place begins."""
    if place:
        file.seek(place - 1)
        file.readline()
        return file.tell()
    return 0


def _number_from(file: BinaryIO, place: int) -> int | None:
    """The step of the first record with one, in the lines that begin at or after a place."""
    file.seek(_line_start(file, place))
    return next((number for line in _whole_lines(file) if (number := _number(line)) is not None), None)


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines that were written to their end."""
    for line in file:
        if line.endswith(b"\n") and b"\x00" not in line:
            yield line


def _number(line: bytes) -> int | None:
    value = _value(line)
    data = value.get("data")
    number = data.get("step") if value.get("type") in _NUMBERED and isinstance(data, dict) else None
    return number if isinstance(number, int) and number else None


def _checked(line: bytes, before: Record | None) -> Record:
    if before is not None:
        return read_line(line, seq=before.seq + 1, prev=before.hash, fence=before.fence)
    value = _value(line)
    seq, prev, fence = value.get("seq"), value.get("prev"), value.get("fence")
    if not isinstance(seq, int) or not isinstance(prev, str) or not isinstance(fence, int):
        raise IntegrityError("a record has not the form of a record", hint="restore the run from a copy")
    return read_line(line, seq=seq, prev=prev, fence=fence)


def _value(line: bytes) -> dict[str, object]:
    try:
        value = json.loads(line)
    except ValueError as exc:
        raise IntegrityError("a record is not JSON", hint="restore the run from a copy") from exc
    if not isinstance(value, dict):
        raise IntegrityError("a record has not the form of a record", hint="restore the run from a copy")
    return value


def _opened(folder: Path) -> BinaryIO:
    try:
        return (folder / LOG).open("rb")
    except FileNotFoundError as exc:
        raise IntegrityError(f"{folder / LOG} is missing", hint="restore it from a copy of the run") from exc
