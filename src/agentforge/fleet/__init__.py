"""Many tasks at once: a queue in a database, and workers that drive what stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.fleet.database import Database, database_url, open_database
    from agentforge.fleet.ledger import LIVE, Job, Ledger
    from agentforge.fleet.places import Line, Queued, look_at_line
    from agentforge.fleet.schedules import Schedules, cron_of, next_time, time_of
    from agentforge.fleet.triggers import WatchedFolder, enqueue_source, make_server, read_secret
    from agentforge.fleet.worker import Worker, plan_of
else:
    __getattr__ = front(
        __name__,
        {
            "database": ("Database", "database_url", "open_database"),
            "ledger": ("LIVE", "Job", "Ledger"),
            "places": ("Line", "Queued", "look_at_line"),
            "schedules": ("Schedules", "cron_of", "next_time", "time_of"),
            "triggers": ("WatchedFolder", "enqueue_source", "make_server", "read_secret"),
            "worker": ("Worker", "plan_of"),
        },
    )

__all__ = [
    "LIVE",
    "Database",
    "Job",
    "Ledger",
    "Line",
    "Queued",
    "Schedules",
    "WatchedFolder",
    "Worker",
    "cron_of",
    "database_url",
    "enqueue_source",
    "look_at_line",
    "make_server",
    "next_time",
    "open_database",
    "plan_of",
    "read_secret",
    "time_of",
]
