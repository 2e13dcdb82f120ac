"""What a canary does; a file of its own, because pytest parses the whole file of a test that fails to show its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def canary(one: object, other: object) -> Callable[[], None]:
    """Make a test that passes when both are the same."""

    def body() -> None:
        if one != other:
            raise AssertionError(f"{one} is not {other}")

    return body
