"""Limits of a provider that all workers share: a bucket of tokens in the database, emptied before every model call."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import cast

from agentforge.config.settings import Settings
from agentforge.errors import StorageError
from agentforge.fleet.database import Database, database_url, open_database

Limiter = Callable[[str], None]
"""Given a provider, returns when one more request may be sent to it."""

_LONGEST_NAP_S = 5.0
_AWAY_S = 1.0


class Bucket:
    """Requests to one provider, refilled steadily.

    Args:
        per_minute: requests that all workers together may send in a minute.
    """

    def __init__(self, database: Database, provider: str, *, per_minute: float) -> None:
        self._database = database
        self._name = provider
        self._rate = per_minute / 60.0
        self._size = max(1.0, per_minute / 10.0)

    def take(self, *, sleep: Callable[[float], None] = time.sleep) -> float:
        """Wait for the right to send one request.

        Returns:
            Seconds that were waited.
        """
        waited = 0.0
        while (wait := self._try_patiently()) > 0:
            nap = min(wait, _LONGEST_NAP_S)
            sleep(nap)
            waited += nap
        return waited

    def _try_patiently(self) -> float:
        """As `try_take`; a database that is away is waited for, since the run has lost nothing yet."""
        try:
            return self.try_take()
        except StorageError:
            return _AWAY_S

    def try_take(self) -> float:
        """Take one; returns 0, or the seconds until there may be one. The statement is one, so two workers never share one."""
        import sqlalchemy

        now, least = self._database.now, "LEAST" if "extract" in self._database.now else "MIN"
        level = f"{least}(:size, level + ({now} - at) * :rate)"
        values = {"name": self._name, "size": self._size, "rate": self._rate}
        with self._database.change() as connection:
            connection.execute(
                sqlalchemy.text(
                    f"INSERT INTO agentforge_buckets (name, level, at) VALUES (:name, :size, {now}) "
                    f"ON CONFLICT (name) DO UPDATE SET at = {least}(agentforge_buckets.at, {now})"  # a clock that was set back
                ),
                values,
            )
            taken = connection.execute(
                sqlalchemy.text(
                    f"UPDATE agentforge_buckets SET level = {level} - 1, at = {now} WHERE name = :name AND {level} >= 1"
                ),
                values,
            )
            if taken.rowcount:
                return 0.0
            row = connection.execute(
                sqlalchemy.text(f"SELECT {level} FROM agentforge_buckets WHERE name = :name"), values
            ).one()
        return max(0.01, (1.0 - float(row[0])) / self._rate)


def limiter_of(settings: Settings, environ: Mapping[str, str]) -> Limiter | None:
    """The limiter of the settings `fleet.requests_per_minute`, by provider; None when there are no limits."""
    limits = settings.table("fleet.requests_per_minute")
    if not limits:
        return None
    database = open_database(database_url(settings, environ))
    buckets = {
        name: Bucket(database, name, per_minute=cast("float", per_minute)) for name, per_minute in limits.items()
    }

    def limit(provider: str) -> None:
        if provider in buckets:
            buckets[provider].take()

    return limit
