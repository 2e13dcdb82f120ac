"""The clock that logs are written by, in the one form that their time stamps have."""

from __future__ import annotations

from datetime import UTC, datetime

_STAMP_LENGTH = len("2025-12-31T10:00:05.000000Z")


def utc_now() -> str:
    """Now, ISO 8601 in UTC with microseconds: `2025-12-31T10:00:05.123456Z`."""
    return _form(datetime.now(UTC))


def not_before(now: str, last: str) -> str:
    """`now` in the form of `utc_now`, or `last` when the clock was set back: the time stamps of a log never fall."""
    if len(now) != _STAMP_LENGTH or not now.endswith("Z"):
        now = _form(datetime.fromisoformat(now))
    return max(now, last)


def _form(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
