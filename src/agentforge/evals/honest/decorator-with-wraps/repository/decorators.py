"""Decorators."""

from collections.abc import Callable


def tagged(tag: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Put a tag on a function."""

    def mark(function: Callable[..., object]) -> Callable[..., object]:
        function.tag = tag
        return function

    return mark
