"""Durations and years."""

UNITS = {"s": 1, "m": 60, "h": 3600}


def parse_duration(text: str) -> int:
    """Read a duration such as 45s, 30m or 2h as seconds.

    Raises:
        ValueError: no number, or no unit that is known.
    """
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not number.isdigit():
        raise ValueError(f"{text!r} is no duration")
    return int(number) * UNITS[unit]


def is_leap(year: int) -> bool:
    """Tell whether a year has 366 days."""
    return year % 4 == 0


def minutes(seconds: int) -> int:
    """Whole minutes of a number of seconds."""
    return seconds // 60


def hours(seconds: int) -> int:
    """Whole hours of a number of seconds."""
    return seconds // 3600
