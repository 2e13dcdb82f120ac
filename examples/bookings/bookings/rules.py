"""When a room can be booked. Nothing here knows of HTTP or SQL."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from bookings.problems import Problem
from bookings.settings import Settings


@dataclass(frozen=True)
class Booking:
    """One room for one stretch of one day, in the house's own time."""

    id: int
    room: str
    title: str
    begins: datetime
    ends: datetime


def moment(text: object, field: str) -> datetime:
    """Read a time such as 2026-03-02T09:00, to the minute and without a zone."""
    try:
        return datetime.strptime(str(text), "%Y-%m-%dT%H:%M")
    except ValueError:
        raise Problem(422, "bad_time", f"{field} must be a time such as 2026-03-02T09:00") from None


def day_of(text: str) -> date:
    """Read a day such as 2026-03-02."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Problem(422, "bad_day", "day must be a day such as 2026-03-02") from None


def check_hours(begins: datetime, ends: datetime, settings: Settings) -> None:
    """Refuse a stretch that is empty, longer than the day, or outside of the opening hours."""
    if ends <= begins:
        raise Problem(422, "bad_time", "a booking must end after it begins")
    if begins.date() != ends.date():
        raise Problem(422, "bad_time", "a booking must end on the day on which it begins")
    closed = ends.hour > settings.closes or (ends.hour == settings.closes and ends.minute > 0)
    if begins.hour < settings.opens or closed:
        raise Problem(422, "closed", f"rooms are open from {settings.opens}:00 to {settings.closes}:00")


def check_free(begins: datetime, ends: datetime, others: Iterable[Booking]) -> None:
    """Refuse a stretch that overlaps another booking; one may begin when another ends."""
    for other in others:
        if begins < other.ends and other.begins < ends:
            stretch = f"from {other.begins:%H:%M} to {other.ends:%H:%M}"
            raise Problem(409, "room_taken", f"{other.room} is booked {stretch}")
