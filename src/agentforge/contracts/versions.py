"""Versions of artifacts and the conditions on them: `1.2.0`, and `>=1.2.0, <2`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from agentforge.errors import UsageError

_COMPARED: Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_PARTS = 4


def satisfies(version: str, condition: str) -> bool:
    """Whether a version meets every part of a condition; an empty condition is met by all.

    Args:
        condition: `>=1.2.0`, several with commas between them; `^1.2` stays below 2, `~=1.2.3` below 1.3; a bare version is
            that version.
    Raises:
        UsageError: one of them is no version or condition.
    """
    return all(_meets(version, part.strip()) for part in condition.split(",") if part.strip())


def _meets(version: str, part: str) -> bool:
    if part[0] == "^" or part.startswith("~="):
        least = part.lstrip("^~=").strip()
        return _numbers(least) <= _numbers(version) < _end_of(least, compatible=part[0] == "~")
    sign = next((sign for sign in _COMPARED if part.startswith(sign)), "")
    return _COMPARED[sign or "="](_numbers(version), _numbers(part[len(sign) :]))


def _end_of(least: str, *, compatible: bool) -> tuple[int, ...]:
    """The first version that is too new: `^` keeps the first number, `~=` all but the last."""
    given = [int(word) for word in least.split(".")]
    kept = given[:-1] if compatible and len(given) > 1 else given[:1]
    raised = [*kept[:-1], kept[-1] + 1]
    return tuple(raised + [0] * (_PARTS - len(raised)))


def _numbers(text: str) -> tuple[int, ...]:
    words = text.strip().removeprefix("v").split(".")
    if not all(word.isascii() and word.isdigit() for word in words) or len(words) > _PARTS:
        raise UsageError(f"{text.strip()!r} is not a version", hint="versions are numbers with dots: 1.2.0")
    return tuple(int(word) for word in words) + (0,) * (_PARTS - len(words))
