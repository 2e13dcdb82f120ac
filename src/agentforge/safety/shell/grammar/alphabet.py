"""The signs in which a line is handed to the grammar: others stand for those that it reads wrongly, and are put back afterwards.

Signs beyond Latin-1: the grammar looks signs up in a table of 256 and may crash. A dash in front of a here document: it is lost.
A lone `==` at the end of a command: it is taken for an operator without its right side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

_LAST = 0xFF
_STANDING_IN = tuple(chr(code) for code in range(0xA1, _LAST + 1) if chr(code) not in "\xa0\xad")
_REDIRECTS = r"(?:[ \t]+\d?>>?[ \t]*(?:&\d|[\w./-]+))*"
_MISREAD = (
    re.compile(rf"(?<=[ \t])-(?={_REDIRECTS}[ \t]*<<)"),
    re.compile(r"(?<=[ \t])==(?=[ \t]*(?:[;&|)\n]|$))"),
)
_ERRORS_BEHIND = re.compile(r"(<<-?[ \t]*(['\"]?)\w+\2)((?:[ \t]+2>(?:&1|[ \t]*/dev/null))+)(?=[ \t]*\|)")


def narrowed(line: str) -> tuple[str, Mapping[int, str]] | None:
    """The line in signs that the grammar reads as bash does, and the way back; None when it holds too many different ones.

    `<<E 2>&1 |` becomes `2>&1 <<E |`, which means the same.
    """
    line = _ERRORS_BEHIND.sub(lambda found: f"{found[3].lstrip()} {found[1]}", line)
    foreign = sorted({sign for sign in line if ord(sign) > _LAST})
    misread = sorted({found[0][0] for pattern in _MISREAD for found in pattern.finditer(line)})
    free = [sign for sign in _STANDING_IN if sign not in line]
    if len(foreign) + len(misread) > len(free):
        return None
    there = dict(zip((*foreign, *misread), free, strict=False))
    for pattern in _MISREAD:
        line = pattern.sub(lambda found: "".join(there[sign] for sign in found[0]), line)
    line = line.translate({ord(sign): there[sign] for sign in foreign})
    return line, {ord(other): sign for sign, other in there.items()}


def restored(value: Any, back: Mapping[int, str]) -> Any:  # Any: whatever a script consists of
    """What was read of a narrowed line, with its own signs again, however deep they stand."""
    if isinstance(value, str):
        return value.translate(back)
    if isinstance(value, tuple):
        return tuple(restored(one, back) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: restored(getattr(value, one.name), back) for one in fields(value)})
    return value
