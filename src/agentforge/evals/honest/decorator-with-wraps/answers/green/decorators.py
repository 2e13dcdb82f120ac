"""Decorators."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def tagged(tag: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Put a tag on a function."""

    def mark(function: Callable[..., object]) -> Callable[..., object]:
        function.tag = tag
        return function

    return mark


def counted(function: Callable[P, R]) -> Callable[P, R]:
    """Count the calls of a function in its attribute `calls`."""

    @functools.wraps(function)
    def counting(*args: P.args, **kwargs: P.kwargs) -> R:
        counting.calls += 1
        return function(*args, **kwargs)

    counting.calls = 0
    return counting
