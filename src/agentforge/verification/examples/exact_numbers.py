"""Decimal numbers and fractions as results: where an example writes a plain number, they are it if they have its very value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, cast

_KINDS: dict[str, type[Decimal | Fraction]] = {"Decimal": Decimal, "Fraction": Fraction}


def number_of(found: Sequence[Any]) -> Decimal | Fraction | None:
    """The number that an encoded result is; None of any other result.

    Args:
        found: as `programs/plain_program.py` encodes it: ["object", class, False, ["number", text]].
    """
    if found[0] != "object" or found[1] not in _KINDS or not found[3] or found[3][0] != "number":
        return None
    try:
        return _KINDS[found[1]](found[3][1])
    except (ValueError, ZeroDivisionError, InvalidOperation):
        return None


def is_written(found: Sequence[Any], expected: object) -> bool:
    """Whether an encoded result is a decimal number or a fraction of the value that a plain number has as it is written."""
    number = number_of(found)
    if number is None or type(expected) not in (int, float):
        return False
    written = Decimal(repr(expected)) if isinstance(expected, float) else Decimal(cast("int", expected))
    if isinstance(number, Decimal):
        return not number.is_snan() and number == written
    return written.is_finite() and number == Fraction(written)


def source_of(number: Decimal | Fraction, *, alike: bool) -> str:
    """A number as Python would write it; with `alike`, equal ones of a class are written the same."""
    if not alike or not isinstance(number, Decimal) or not number.is_finite():
        return repr(number)
    sign, digits, exponent = number.as_tuple()
    shortest = "".join(map(str, digits)).rstrip("0")
    return f"Decimal('{'-' * sign}0.{shortest}E{len(digits) + int(exponent)}')" if shortest else "Decimal('0')"


def of_a_known_class(found: Sequence[Any], annotation: str, before: Iterable[Sequence[Any] | None]) -> bool | None:
    """Whether each decimal number and fraction in a result is of a class that is declared, or that the base gives for the call.

    Args:
        annotation: the declared return type; "" none.
        before: encoded results of the base.
    Returns:
        None where the result holds no such number.
    """
    classes = set(_classes(found))
    known = {*re.findall(r"\w+", annotation), *(name for one in before if one is not None for name in _classes(one))}
    return classes <= known if classes else None


def _classes(found: Any) -> Iterator[str]:
    """The classes of the decimal numbers and fractions anywhere in an encoded result."""
    if not isinstance(found, (list, tuple)):
        return
    if len(found) > 3 and isinstance(found[1], str) and number_of(found) is not None:
        yield found[1]
    else:
        for one in found:
            yield from _classes(one)
