"""Durations as people write them."""

from __future__ import annotations

import pytest

from agentforge.config.durations import parse_duration, show_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("45s", 45),
        ("30m", 1800),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1d", 86400),
        (" 1.5 ", 1.5),
        ("2H", 7200),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0m", "-5", "5x", "m5", "1m1h", "½h", "1 h"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59.9, "59s"), (92, "1m32s"), (3600, "1h00m"), (7500, "2h05m")]
)
def test_a_duration_is_shown(seconds: float, text: str) -> None:
    assert show_duration(seconds) == text
