"""Signs beyond Latin-1 as others while a line is parsed: the grammar looks signs up in a table of 256 and may crash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

_LAST = 0xFF
_STANDING_IN = tuple(chr(code) for code in range(0xA1, _LAST + 1) if chr(code) not in "\xa0\xad")


def narrowed(line: str) -> tuple[str, Mapping[int, str]] | None:
    """The line with a letter of Latin-1 for each sign beyond it, and the way back; None when it holds too many different ones."""
    foreign = sorted({sign for sign in line if ord(sign) > _LAST})
    free = [sign for sign in _STANDING_IN if sign not in line]
    if len(foreign) > len(free):
        return None
    there = {ord(sign): other for sign, other in zip(foreign, free, strict=False)}
    return line.translate(there), {ord(other): chr(code) for code, other in there.items()}


def restored(value: Any, back: Mapping[int, str]) -> Any:  # Any: whatever a script consists of
    """What was read of a narrowed line, with its own signs again, however deep they stand."""
    if isinstance(value, str):
        return value.translate(back)
    if isinstance(value, tuple):
        return tuple(restored(one, back) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: restored(getattr(value, one.name), back) for one in fields(value)})
    return value
