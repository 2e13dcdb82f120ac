"""Stamps of time."""

from datetime import datetime, timezone


def day(moment: datetime) -> str:
    """Write the day of a moment."""
    return moment.strftime("%Y-%m-%d")


def stamp(now: datetime | None = None) -> str:
    """Write a time, the present one by default, in UTC; raises ValueError for a time without a zone."""
    moment = datetime.now(timezone.utc) if now is None else now
    if moment.tzinfo is None:
        raise ValueError("the time has no zone")
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
