"""Stamps of time."""

from datetime import datetime


def day(moment: datetime) -> str:
    """Write the day of a moment."""
    return moment.strftime("%Y-%m-%d")
