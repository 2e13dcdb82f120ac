"""The table of jobs: order, one taker, leases by the database's clock."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy

from agentforge.errors import ConfigError, ConflictError, StorageError, UsageError
from agentforge.fleet.database import Database, open_database, shown_url
from agentforge.fleet.ledger import Job, Ledger

REPO = Path("/repo")


def claimed(
    ledger: Ledger, worker: str = "w", *, driving: Collection[str] = (), at_most: int = 10, **bounds: int
) -> list[Job]:
    return ledger.claim(worker, driving=driving, at_most=at_most, **bounds)


def names(jobs: Sequence[Job]) -> list[str]:
    return [job.task_id for job in jobs]


def test_the_first_is_the_one_with_the_lowest_number_then_the_oldest(ledger: Ledger) -> None:
    for name, priority in (("late", 100), ("early", 1), ("later", 100)):
        ledger.add(REPO, name, priority=priority)
    assert names(claimed(ledger, "a", at_most=2)) == ["early", "late"]
    assert names(claimed(ledger, "b")) == ["later"]


def test_a_claim_whose_answer_was_lost_is_found_again_and_nobody_else_gets_it(ledger: Ledger) -> None:
    ledger.add(REPO, "t")
    (lost,) = claimed(ledger, "a")
    assert (claimed(ledger, "b"), claimed(ledger, "a", driving=[lost.id])) == ([], [])
    (again,) = claimed(ledger, "a")
    assert (again.id, again.attempt, again.worker) == (lost.id, 1, "a")


def test_no_more_is_driven_than_everybody_and_each_repository_may(ledger: Ledger) -> None:
    for number in range(3):
        ledger.add(REPO, f"t{number}")
        ledger.add(Path("/other"), f"o{number}")
    mine = claimed(ledger, everywhere=3, each=1)
    assert {job.repo for job in mine} == {"/repo", "/other"}
    assert len(mine) == 2
    assert len(claimed(ledger, "another", everywhere=3)) == 1


def test_adding_twice_changes_nothing_and_adding_again_brings_back(ledger: Ledger) -> None:
    ledger.add(REPO, "t")
    (job,) = claimed(ledger)
    assert ledger.add(REPO, "t").status == "running"
    assert ledger.end(job, "done")
    assert ledger.add(REPO, "t").status == "queued"


def test_who_lost_a_job_cannot_end_it_and_an_end_can_be_told_twice(ledger: Ledger) -> None:
    ledger.add(REPO, "t")
    (mine,) = claimed(ledger, "a")
    assert ledger.end(mine, "queued", note="crashed", crashes=1)
    assert ledger.end(mine, "queued", note="crashed", crashes=1)
    (theirs,) = claimed(ledger, "b")
    assert (theirs.attempt, theirs.crashes) == (2, 1)
    assert not ledger.end(mine, "done")
    assert ledger.get(mine.id).status == "running"
    assert ledger.end(theirs, "done")
    assert ledger.end(theirs, "done")
    assert not ledger.end(mine, "done")


def test_a_beat_speaks_only_for_what_is_driven(ledger: Ledger, database: Database) -> None:
    for name in ("driven", "lost"):
        ledger.add(REPO, name)
    driven, lost = claimed(ledger, "a")
    with database.change() as connection:
        connection.execute(sqlalchemy.text("UPDATE agentforge_queue SET beat = 1"))
    ledger.beat("a", [driven.id])
    assert (ledger.get(driven.id).beat > 1, ledger.get(lost.id).beat) == (True, 1)
    ledger.beat("another", [lost.id])
    ledger.beat("a", [])
    assert ledger.get(lost.id).beat == 1


def test_a_job_is_taken_back_from_a_worker_that_was_not_heard_of_since(ledger: Ledger, database: Database) -> None:
    ledger.add(REPO, "t")
    (mine,) = claimed(ledger, "a")
    (seen,) = ledger.out()
    with database.change() as connection:
        connection.execute(sqlalchemy.text("UPDATE agentforge_queue SET beat = beat - 6"))
    assert not ledger.take_back(seen, "queued", note="lost", crashes=1)  # it said something meanwhile
    (seen,) = ledger.out()
    assert ledger.take_back(seen, "queued", note="lost", crashes=1)
    assert not ledger.take_back(seen, "queued", note="lost", crashes=2)
    assert (ledger.out(), ledger.get(seen.id).crashes) == ([], 1)
    assert not ledger.end(mine, "queued")  # it is not this worker's any more, whatever it is


def test_what_an_older_version_had_sent_stands_in_line_again(ledger: Ledger, database: Database) -> None:
    ledger.add(REPO, "t")
    with database.change() as connection:
        connection.execute(sqlalchemy.text("UPDATE agentforge_queue SET status = 'sent', attempt = 1"))
    assert claimed(ledger) == []
    ledger.requeue_sent()
    assert [job.attempt for job in claimed(ledger)] == [3]


def test_a_clock_that_was_set_back_holds_no_job(ledger: Ledger, database: Database) -> None:
    ledger.add(REPO, "t")
    ledger.end(claimed(ledger)[0], "queued", delay_s=15)
    assert claimed(ledger) == []
    an_hour_ago = Ledger(replace(database, now=f"({database.now} - 3600)"))
    assert names(claimed(an_hour_ago)) == ["t"]


def test_a_paused_queue_sends_nothing_and_a_paused_job_stays(ledger: Ledger) -> None:
    job = ledger.add(REPO, "t")
    ledger.hold(paused=True)
    assert claimed(ledger) == []
    ledger.hold(paused=False)
    ledger.set_aside(job, "paused")
    assert claimed(ledger) == []
    ledger.set_aside(ledger.get(job.id), "queued")
    assert len(claimed(ledger)) == 1
    ledger.set_aside(job, "cancelled")
    with pytest.raises(ConflictError, match="cancelled"):
        ledger.set_aside(job, "paused")


def test_a_job_that_is_delayed_is_not_ready(ledger: Ledger) -> None:
    ledger.add(REPO, "t")
    ledger.end(claimed(ledger)[0], "queued", delay_s=60)
    assert claimed(ledger) == []


def test_a_job_that_waited_comes_back_only_from_where_it_stood(ledger: Ledger) -> None:
    ledger.add(REPO, "t")
    ledger.end(claimed(ledger)[0], "parked")
    (parked,) = ledger.jobs(statuses=("parked",))
    assert ledger.bring_back(parked, note="goes on")
    assert not ledger.bring_back(parked, note="goes on")
    assert ledger.get(parked.id).status == "queued"


def test_a_job_is_found_by_the_beginning_of_its_name(ledger: Ledger) -> None:
    ledger.add(REPO, "task-20260101-a")
    ledger.add(Path("/other"), "task-20260101-a")
    ledger.add(REPO, "task-20260101-b_c")
    assert ledger.find("task-20260101-b").task_id == "task-20260101-b_c"
    with pytest.raises(UsageError, match="fits 2: task-20260101-a in /other"):
        ledger.find("task-20260101-a")
    assert ledger.find("task-20260101-a", here=REPO).repo == "/repo"
    assert ledger.find("task-20260101-a", here=Path("/third"), repo=Path("/other")).repo == "/other"
    with pytest.raises(UsageError, match="nothing"):
        ledger.find("task-20260101-b", repo=Path("/other"), here=REPO)
    with pytest.raises(UsageError, match="nothing"):
        ledger.find("task-20260101-b%")


def test_ten_thousand_jobs_are_looked_at_in_no_time(ledger: Ledger, database: Database) -> None:
    rows = [{"id": f"{n:05}", "task": f"task-{n}", "priority": n % 7} for n in range(10_000)]
    with database.change() as connection:
        connection.execute(
            sqlalchemy.text(
                "INSERT INTO agentforge_queue (id, repo, task_id, priority, status, added) "
                "VALUES (:id, '/r', :task, :priority, 'queued', 0)"
            ),
            rows,
        )
    began = time.process_time()
    assert len(claimed(ledger, at_most=50)) == 50
    assert len(ledger.jobs(limit=100)) == 100
    assert ledger.counts() == {"queued": 9_950, "running": 50}
    assert time.process_time() - began < 1.0


def test_a_database_that_does_not_answer_is_told_without_its_password() -> None:
    with pytest.raises(StorageError, match=r"ann:\*\*\*@127.0.0.1:1/q") as caught:
        open_database("postgresql://ann:secret@127.0.0.1:1/q")
    assert "secret" not in str(caught.value)
    assert shown_url("postgresql://ann:s@h/q") == "postgresql://ann:***@h/q"


def test_another_kind_of_database_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot live"):
        open_database("mysql://h/q")
