"""Durations and bounds as people write them: "90", "30m", "1h30m", "none"."""

from __future__ import annotations

import re

_FORM = r"(?a)(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+(?:\.\d+)?)s?)?"
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def parse_duration(text: str) -> float:
    """Read a duration.

    Args:
        text: a number of seconds, or days, hours, minutes and seconds as in "2h", "1h30m", "45s".
    Returns:
        Seconds, > 0.
    Raises:
        ValueError: any other text.
    """
    found = re.fullmatch(_FORM, text.strip().lower())
    total = sum(float(number) * _SECONDS[unit] for unit, number in found.groupdict().items() if number) if found else 0
    if total <= 0:
        raise ValueError(f"{text!r} is not a duration such as 90, 45s, 30m, 2h or 1h30m")
    return float(total)


def show_duration(seconds: float) -> str:
    """Write a duration for people: "8s", "1m32s", "2h05m"."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
