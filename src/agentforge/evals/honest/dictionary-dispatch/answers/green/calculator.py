"""A calculator."""

import operator
from collections.abc import Callable

_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def calculate(left: float, sign: str, right: float) -> float:
    """Calculate; raises ValueError for an unknown operator."""
    if sign not in _OPERATIONS:
        raise ValueError(f"unknown operator {sign!r}")
    return _OPERATIONS[sign](left, right)
