"""Compares an encoded result with an expected value: exact type and value, never by the result's own `__eq__`.

Decimal numbers and fractions as results: where an example writes a plain number, they are it if they have its very value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal, cast

How = Literal["exact", "equal", "loose"]
"""How alike a result has to be."""

_BUILTIN = frozenset(
    {"bool", "int", "float", "complex", "str", "bytes", "bytearray", "NoneType", "ellipsis", "list", "tuple", "set",
     "frozenset", "dict"}
)  # fmt: skip
_EQUAL = ({"set", "frozenset"}, {"bytes", "bytearray"})
"""Built-in types of which `==` compares what they hold."""
_CLOSE = 1e-9


def difference(found: Sequence[Any], expected: object, *, streams: bool = True, how: How = "exact") -> str:
    """Say how a result differs from what is expected; empty when it does not.

    Names of classes of the project are not told: they could carry a secret.

    Args:
        found: as `programs/plain_program.py` encodes it: [type, value], a subclass or an object.
        expected: a value of built-in types.
        streams: a generator or the like may stand for a list or tuple.
        how: "exact"; "equal": numbers may differ in type (a Decimal or Fraction has the very value that is written), as may
            sets and bytes, and a subclass whose equality is that of the built-in type is accepted, as `==` has it; "loose": an
            object of another type is accepted, too, unless it says that it equals anything.
    """
    name = str(found[0])
    if name == "too much":
        return "" if how == "loose" else "is too large or refers to itself"
    if name == "object":
        return _of_object(found, expected, how=how)
    if name == "subclass":
        return _of_subclass(found, expected, how=how)
    if name == "iterator":
        if not streams or not isinstance(expected, (list, tuple)):
            return f"is a {found[1]}, not {_named(expected)}"
        return _items(found[2], list(expected), how=how)
    wanted = type(expected).__name__
    alike = how != "exact" and any({name, wanted} <= both for both in _EQUAL)
    if name != wanted and not alike and not _numbers(name, expected, how=how):
        return f"is of type {name}, not {wanted}"
    return _value(found, expected, how=how)


def shown(found: Sequence[Any], *, limit: int = 160, alike: bool = False) -> str:
    """An encoded result as Python would write it.

    Args:
        alike: what a test would call equal is written the same: dictionaries and sets in one order, floats to ten digits.
    """
    text = _source(found, alike=alike)
    return text if len(text) <= limit else f"{text[:limit]}..."


def decoded(found: Sequence[Any]) -> object:
    """The value of an encoded result of exact built-in types.

    Raises:
        ValueError: it holds something else.
    """
    name, *rest = found
    if name not in _BUILTIN:
        raise ValueError(f"{name} is no built-in value")
    if name == "dict":
        return {decoded(key): decoded(value) for key, value in rest[0]}
    if name in ("list", "tuple", "set", "frozenset"):
        made = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[name]
        return made(decoded(one) for one in rest[0])
    return _scalar(name, rest[0])


def _of_object(found: Sequence[Any], expected: object, *, how: How) -> str:
    if found[2]:
        return "is an object that says it equals anything"
    if how == "loose":
        return ""
    if is_written(found, expected):
        return "" if how == "equal" else f"is of type {found[1]}, not {_named(expected)}"
    if number_of(found) is not None and type(expected) in (int, float):
        return "is another number"
    return f"is an object of another class than {_named(expected)}"


def _of_subclass(found: Sequence[Any], expected: object, *, how: How) -> str:
    _, _, like, faithful, bare = found
    inner = difference(bare, expected, streams=False, how=how)
    if inner or like or (how != "exact" and faithful):
        return inner
    return f"is of a subclass of {bare[0]}, not {_named(expected)} itself"


def _numbers(name: str, expected: object, *, how: How) -> bool:
    """Whether two kinds of number may stand for each other."""
    kinds = ("int", "float", "complex", "bool") if how == "equal" else ("int", "float", "complex")
    return how != "exact" and name in kinds and type(expected).__name__ in kinds


def _value(found: Sequence[Any], expected: object, *, how: How) -> str:
    name, value = str(found[0]), found[1]
    if isinstance(expected, (list, tuple)):
        return _items(value, list(expected), how=how)
    if isinstance(expected, (set, frozenset)):
        return _unordered(value, list(expected), how=how)
    if isinstance(expected, dict):
        pairs = [["tuple", pair] for pair in value]
        return _unordered(pairs, list(expected.items()), how=how)
    actual = _scalar(name, value)
    if isinstance(actual, float) or isinstance(expected, float):
        return "" if _close(actual, expected) else "is another number"
    return "" if actual == expected else "is another value"


def _items(found: Sequence[Any], expected: Sequence[object], *, how: How) -> str:
    if len(found) != len(expected):
        return "has another length"
    for one, wanted in zip(found, expected, strict=True):
        inner = difference(one, wanted, streams=False, how=how)
        if inner:
            return f"holds an item that {inner}"
    return ""


def _unordered(found: Sequence[Any], expected: Sequence[object], *, how: How) -> str:
    if len(found) != len(expected):
        return "has another length"
    left = list(expected)
    for one in found:
        match = next((wanted for wanted in left if not difference(one, wanted, streams=False, how=how)), _NOTHING)
        if match is _NOTHING:
            return "holds another item"
        left = [wanted for wanted in left if wanted is not match]
    return ""


_NOTHING = object()


def _close(actual: object, expected: object) -> bool:
    if not isinstance(actual, (int, float)) or not isinstance(expected, (int, float)):
        return actual == expected
    if math.isnan(actual) or math.isnan(expected):
        return math.isnan(actual) and math.isnan(expected)
    return math.isclose(actual, expected, rel_tol=_CLOSE, abs_tol=1e-12)


def _scalar(name: str, value: Any) -> object:
    if name == "int":
        return int(value, 16)
    if name in ("bytes", "bytearray"):
        return bytes.fromhex(value) if name == "bytes" else bytearray.fromhex(value)
    if name in ("float", "complex"):
        return float(value) if name == "float" else complex(value)
    return ... if name == "ellipsis" else value


def _named(expected: object) -> str:
    return type(expected).__name__


def _source(found: Sequence[Any], *, alike: bool = False) -> str:
    name, number = str(found[0]), number_of(found)
    if number is not None:
        return source_of(number, alike=alike)
    if name in ("object", "too much"):
        return f"an object of class {found[1]}" if name == "object" else "..."
    if name == "subclass":
        return f"{found[1]}({_source(found[4], alike=alike)})"
    if name == "iterator":
        return f"{found[1]}({', '.join(_source(one, alike=alike) for one in found[2])})"
    if name == "dict":
        rows = [f"{_source(key, alike=alike)}: {_source(value, alike=alike)}" for key, value in found[1]]
        return "{" + ", ".join(sorted(rows) if alike else rows) + "}"
    if name in ("list", "tuple", "set", "frozenset"):
        return _container(name, [_source(one, alike=alike) for one in found[1]], alike=alike)
    value = _scalar(name, found[1])
    if alike and isinstance(value, float):
        return repr(float(f"{value:.10g}"))
    if type(value) is int and abs(value) >> 512:  # Python refuses to write such a number in digits
        return hex(value) if alike else f"a number of {value.bit_length()} bits"
    return repr(value)


def _container(name: str, rows: list[str], *, alike: bool) -> str:
    ends = {"list": "[]", "tuple": "()"}.get(name, "{}")
    if alike and ends == "{}":
        rows = sorted(rows)
    inner = ", ".join(rows) + ("," if name == "tuple" and len(rows) == 1 else "")
    text = f"{ends[0]}{inner}{ends[1]}" if rows or ends != "{}" else "set()"
    return f"frozenset({text})" if name == "frozenset" else text


def told_of(value: Sequence[Any] | None, raised: Sequence[tuple[str, bool]], message: str) -> str:
    """What a call gave, in words: its encoded value, or the exception with its first class."""
    if value is not None:
        return shown(value)
    said = f" ({message[:120]})" if message else ""
    return f"{raised[0][0]}{said}" if raised else "no answer"


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
