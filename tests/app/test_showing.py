"""Figures as people read them."""

from __future__ import annotations

import pytest

from agentforge.app.sessions.display import size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (169_056, "165 KiB"),
        (3 << 30, "3.0 GiB"),
        (5 << 40, "5120 GiB"),
    ],
)
def test_a_size_is_told_in_the_unit_that_fits(size: int, text: str) -> None:
    assert size_text(size) == text
