"""Retrying what failed."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

RETRIED = (429, 502, 503)


def may_retry(status: int) -> bool:
    """Tell whether an answer of a server is worth another attempt."""
    return status in RETRIED


def retry(function: Callable[[], T], attempts: int = 3, delay: float = 0.1) -> T:
    """Call a function until the connection holds; raises the ConnectionError of the last attempt."""
    for _ in range(attempts - 1):
        try:
            return function()
        except ConnectionError:
            time.sleep(delay)
    return function()
