"""Real workers over a real queue: killed, frozen and stopped at random moments; everything is delivered, nothing twice."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from agentforge.fleet.database import open_database


def test_workers_that_are_killed_deliver_everything_once(fleet: ModuleType, tmp_path: Path) -> None:
    found = fleet.run_fleet(
        tmp_path, tasks=12, workers=2, kill_every_s=3.0, kills=4, lease_s=3.0, deadline_s=300.0, plugins=False
    )
    assert (found.delivered, found.branches, found.delivered_twice) == (12, 12, 0)
    assert (found.kills, found.freezes) == (3, 1)
    assert found.worst_repeated <= 0  # at most one model call for each time that a task was taken over


def test_the_same_on_a_postgresql_that_goes_away_and_comes_back(fleet: ModuleType, tmp_path: Path) -> None:
    try:
        with fleet.postgres() as server:
            _assert_idle_changes_end(server.url)
            found = fleet.run_fleet(
                tmp_path, tasks=3, workers=2, url=server.url, kill_every_s=4.0, kills=1, lease_s=3.0, server=server,
                away_s=1.5, plugins=False,
            )  # fmt: skip
    except fleet.NoPostgres as exc:
        pytest.skip(str(exc))
    assert (found.delivered, found.branches, found.delivered_twice, found.database) == (3, 3, 0, "PostgreSQL")
    assert "does not answer" in (tmp_path / "home" / "workers.log").read_text()


def _assert_idle_changes_end(url: str) -> None:
    """Who is frozen in the middle of a change holds nobody up for long."""
    database = open_database(url)
    with database.change() as connection:
        assert connection.exec_driver_sql("SHOW idle_in_transaction_session_timeout").scalar_one() == "30s"
    database.close()
