"""Rooms and bookings in SQLite."""

import sqlite3
from datetime import date, datetime

from bookings.rules import Booking

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rooms (name TEXT PRIMARY KEY, seats INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS bookings (
    id INTEGER PRIMARY KEY,
    room TEXT NOT NULL REFERENCES rooms (name),
    title TEXT NOT NULL,
    begins TEXT NOT NULL,
    ends TEXT NOT NULL
);
"""


class Store:
    """The one database of the service."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, check_same_thread=False)
        self._db.executescript(_SCHEMA)

    def rooms(self) -> list[tuple[str, int]]:
        """All rooms with their seats, smallest first."""
        return self._db.execute("SELECT name, seats FROM rooms ORDER BY seats, name").fetchall()

    def has_room(self, name: str) -> bool:
        """Whether there is such a room."""
        return self._db.execute("SELECT 1 FROM rooms WHERE name = ?", (name,)).fetchone() is not None

    def add_room(self, name: str, seats: int) -> bool:
        """Add a room; False if its name is taken."""
        with self._db:
            done = self._db.execute("INSERT OR IGNORE INTO rooms VALUES (?, ?)", (name, seats))
        return done.rowcount == 1

    def bookings(self, room: str, day: date) -> list[Booking]:
        """The bookings of a room on a day, in their order."""
        rows = self._db.execute(
            "SELECT id, room, title, begins, ends FROM bookings WHERE room = ? AND begins LIKE ? ORDER BY begins",
            (room, f"{day.isoformat()}%"),
        )
        return [_booking(row) for row in rows]

    def book(self, room: str, title: str, begins: datetime, ends: datetime) -> Booking:
        """Keep a booking."""
        with self._db:
            done = self._db.execute(
                "INSERT INTO bookings (room, title, begins, ends) VALUES (?, ?, ?, ?)",
                (room, title, begins.isoformat(), ends.isoformat()),
            )
        return Booking(done.lastrowid or 0, room, title, begins, ends)

    def cancel(self, number: int) -> bool:
        """Forget a booking; False if there was none."""
        with self._db:
            return self._db.execute("DELETE FROM bookings WHERE id = ?", (number,)).rowcount == 1


def _booking(row: tuple[int, str, str, str, str]) -> Booking:
    number, room, title, begins, ends = row
    return Booking(number, room, title, datetime.fromisoformat(begins), datetime.fromisoformat(ends))
