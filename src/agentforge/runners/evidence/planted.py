"""What a canary does; a file of its own, because pytest parses the whole file of a test that fails to show its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def canary(number: int) -> Callable[[], None]:
    """Make a test that passes when the number is two."""

    def body() -> None:
        if number != 2:
            raise AssertionError(f"{number} is not 2")

    return body
