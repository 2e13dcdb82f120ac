"""Retrying what failed."""

import random
from typing import Protocol


class Uniform(Protocol):
    """Something that draws evenly."""

    def uniform(self, a: float, b: float) -> float:
        """Draw between a and b."""


def may_retry(status: int) -> bool:
    """Tell whether an answer of a server is worth another attempt."""
    return status == 429 or status >= 500


def backoff(attempt: int, base: float = 0.5, limit: float = 30.0, rng: Uniform = random) -> float:
    """Draw the seconds to wait before an attempt; the bound doubles with each one, up to a limit."""
    return rng.uniform(0, min(limit, base * 2**attempt))
