"""Times and rhythms."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentforge.errors import UsageError
from agentforge.fleet.database import Database
from agentforge.fleet.rates import Bucket
from agentforge.fleet.schedules import Schedules, cron_of, next_time, time_of

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def test_times_are_read() -> None:
    assert time_of("+2h", now=NOW) == NOW.timestamp() + 7200
    assert time_of("2026-11-23T06:00+00:00", now=NOW) == datetime(2026, 11, 23, 6, tzinfo=UTC).timestamp()
    assert NOW.timestamp() < time_of("11:59", now=NOW) <= NOW.timestamp() + 86400


@pytest.mark.parametrize("text", ["tomorrow", "25:00", "+soon", "2026-01-01T00:00"])
def test_what_is_no_time_to_come_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--at"):
        time_of(text, now=NOW)


def test_rhythms_are_read() -> None:
    assert cron_of("daily") == "0 6 * * *"
    assert cron_of("*/5 * * * 1-5") == "*/5 * * * 1-5"
    assert next_time("*/5 * * * *", after=NOW.timestamp() + 1) == NOW.timestamp() + 300
    for wrong in ("* * * *", "61 * * * *", "often", "* * * * * *"):
        with pytest.raises(UsageError, match="--every"):
            cron_of(wrong)


def test_the_same_schedule_twice_is_one_and_its_turn_is_taken_once(database: Database) -> None:
    schedules = Schedules(database)
    made = [schedules.add(cron="0 6 * * *", next_at=1.0, arguments=["x"], folder=Path("/r")) for _ in range(2)]
    assert made[0] == made[1]
    assert [schedules._advance(made[0]), schedules._advance(made[0])] == [True, False]
    (item,) = schedules.all()
    assert item.next_at > 1.0
    schedules.remove(item.id)
    with pytest.raises(UsageError, match="no schedule"):
        schedules.remove(item.id)


def test_a_bucket_is_shared_and_runs_dry(database: Database) -> None:
    buckets = [Bucket(database, "openai", per_minute=30) for _ in range(2)]
    taken = [buckets[number % 2].try_take() for number in range(4)]
    assert taken[:3] == [0.0, 0.0, 0.0]
    assert 1.0 < taken[3] <= 2.0
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        with database.change() as connection:
            connection.exec_driver_sql("UPDATE agentforge_buckets SET at = at - 2")

    assert buckets[0].take(sleep=sleep) == sum(naps) > 0


def test_a_clock_that_is_set_back_or_ahead_does_not_stop_a_provider(database: Database) -> None:
    ahead = Bucket(replace(database, now=f"({database.now} + 3600)"), "openai", per_minute=30)
    here = Bucket(database, "openai", per_minute=30)
    assert [ahead.try_take() for _ in range(3)] == [0.0, 0.0, 0.0]
    assert 1.0 < here.try_take() <= 2.0  # not an hour


def test_a_time_is_meant_by_the_clock_that_the_workers_go_by(database: Database) -> None:
    assert replace(database, now=f"({database.now} + 3600)").clock() - database.clock() > 3599


def test_a_folder_that_is_not_here_is_left_to_a_machine_that_has_it(database: Database, tmp_path: Path) -> None:
    schedules, said = Schedules(database), list[str]()
    schedules.add(cron="", next_at=1.0, arguments=["--", "x"], folder=tmp_path / "moved")
    schedules.start_due({"HOME": str(tmp_path)}, tell=said.append)
    assert ([item.next_at for item in schedules.all()], said) == ([1.0], [])


def test_what_this_machine_could_not_start_comes_again_and_what_nobody_can_start_does_not(
    database: Database, tmp_path: Path
) -> None:
    schedules, said = Schedules(database), list[str]()
    schedules.add(cron="", next_at=1.0, arguments=["--", "--json for the list"], folder=tmp_path)
    away = {"HOME": str(tmp_path), "AGENTFORGE_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    schedules.start_due(away, tell=said.append)
    (item,) = schedules.all()
    assert database.clock() < item.next_at <= database.clock() + 60
    assert ["does not answer" in said[0], "tried again in 60 s" in said[1]] == [True, True], said
    schedules.remove(item.id)
    schedules.add(cron="", next_at=1.0, arguments=["--repo", "nowhere", "--", "x"], folder=tmp_path)
    schedules.start_due({"HOME": str(tmp_path), "AGENTFORGE_DATABASE_URL": database.url}, tell=said.append)
    assert (schedules.all(), "no repository is known as 'nowhere'" in said[2]) == ([], True), said
