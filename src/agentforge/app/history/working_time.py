"""How long a question kept a person from other things: working hours count, nights and weekends do not. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

_FROM, _UNTIL = 8, 18
"""Hours between which people work, on Monday to Friday, where they are."""
_FRIDAY = 4
_AT_HAND_S = 900.0
"""Seconds before an answer in which the one who gave it was at work on it, whatever the hour."""


def active_seconds(asked: str, answered: str, *, zone: tzinfo | None = None) -> float:
    """Seconds of the time between a question and its answer that count as a person's.

    Args:
        asked, answered: ISO 8601 with an offset.
        zone: whose nights are meant; None = this machine's.
    Returns:
        The working hours between the two; at least a quarter of an hour, or all of the time where it was shorter.
    """
    begin, end = (datetime.fromisoformat(at).astimezone(zone) for at in (asked, answered))
    whole = max(0.0, (end - begin).total_seconds())
    return max(min(whole, _AT_HAND_S), _working_seconds(begin, end))


def _working_seconds(begin: datetime, end: datetime) -> float:
    total, day = 0.0, begin.replace(hour=0, minute=0, second=0, microsecond=0)
    while day < end:
        opens, closes = day.replace(hour=_FROM), day.replace(hour=_UNTIL)
        if day.weekday() <= _FRIDAY:
            total += max(0.0, (min(end, closes) - max(begin, opens)).total_seconds())
        day += timedelta(days=1)
    return total
