"""The table of jobs: order, one taker, leases by the database's clock."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy

from agentforge.errors import ConfigError, ConflictError, StorageError, UsageError
from agentforge.fleet.database import Database, open_database, shown_url
from agentforge.fleet.ledger import Ledger

REPO = Path("/repo")


def test_the_first_is_the_one_with_the_lowest_number_then_the_oldest(ledger: Ledger) -> None:
    for name, priority in (("late", 100), ("early", 1), ("later", 100)):
        ledger.add(REPO, name, priority=priority)
    assert [job.task_id for job in ledger.ready(ahead=10)] == ["early", "late", "later"]
    assert len(ledger.ready(ahead=2)) == 2


def test_a_job_is_sent_and_begun_once(ledger: Ledger) -> None:
    job = ledger.add(REPO, "t")
    sent = ledger.send(job)
    assert sent is not None
    assert (sent.attempt, ledger.send(job)) == (1, None)
    assert ledger.begin(sent.id, 1, worker="a") is not None
    assert ledger.begin(sent.id, 1, worker="b") is None


def test_adding_twice_changes_nothing_and_adding_again_brings_back(ledger: Ledger) -> None:
    job = ledger.send(ledger.add(REPO, "t"))
    assert job is not None
    assert ledger.add(REPO, "t").status == "sent"
    ledger.end(job, "done", since="sent")
    assert ledger.add(REPO, "t").status == "queued"


def test_who_lost_a_job_cannot_end_it(ledger: Ledger) -> None:
    sent = ledger.send(ledger.add(REPO, "t"))
    assert sent is not None
    mine = ledger.begin(sent.id, 1, worker="a")
    assert mine is not None
    assert ledger.end(mine, "queued", note="taken over")
    assert ledger.send(ledger.get(mine.id)) is not None
    assert not ledger.end(mine, "done")
    assert ledger.get(mine.id).status == "sent"


def test_a_job_is_taken_back_from_a_worker_that_was_not_heard_of_since(ledger: Ledger, database: Database) -> None:
    sent = ledger.send(ledger.add(REPO, "t"))
    assert sent is not None
    assert [job.status for job in ledger.out()] == ["sent"]
    ledger.begin(sent.id, 1, worker="a")
    (seen,) = ledger.out()
    with database.change() as connection:
        connection.execute(sqlalchemy.text("UPDATE agentforge_queue SET beat = beat - 6"))
    assert not ledger.take_back(seen, "queued", note="lost", crashes=1)  # it said something meanwhile
    (seen,) = ledger.out()
    assert ledger.take_back(seen, "queued", note="lost", crashes=1)
    assert (ledger.out(), ledger.get(seen.id).crashes) == ([], 1)


def test_a_clock_that_was_set_back_holds_no_job(ledger: Ledger, database: Database) -> None:
    job = ledger.add(REPO, "t")
    ledger.end(job, "queued", delay_s=15, since="queued")
    assert ledger.ready(ahead=5) == []
    an_hour_ago = Ledger(replace(database, now=f"({database.now} - 3600)"))
    assert [job.task_id for job in an_hour_ago.ready(ahead=5)] == ["t"]


def test_a_paused_queue_sends_nothing_and_a_paused_job_stays(ledger: Ledger) -> None:
    job = ledger.add(REPO, "t")
    ledger.hold(paused=True)
    assert ledger.ready(ahead=5) == []
    ledger.hold(paused=False)
    ledger.set_aside(job, "paused")
    assert ledger.ready(ahead=5) == []
    ledger.set_aside(ledger.get(job.id), "queued")
    assert len(ledger.ready(ahead=5)) == 1
    ledger.set_aside(job, "cancelled")
    with pytest.raises(ConflictError, match="cancelled"):
        ledger.set_aside(job, "paused")


def test_a_job_that_is_delayed_is_not_ready(ledger: Ledger) -> None:
    job = ledger.add(REPO, "t")
    ledger.end(job, "queued", delay_s=60, since="queued")
    assert ledger.ready(ahead=5) == []


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
    assert len(ledger.ready(ahead=50)) == 50
    assert len(ledger.jobs(limit=100)) == 100
    assert ledger.counts() == {"queued": 10_000}
    assert time.process_time() - began < 1.0


def test_a_database_that_does_not_answer_is_told_without_its_password() -> None:
    with pytest.raises(StorageError, match=r"ann:\*\*\*@127.0.0.1:1/q") as caught:
        open_database("postgresql://ann:secret@127.0.0.1:1/q")
    assert "secret" not in str(caught.value)
    assert shown_url("postgresql://ann:s@h/q") == "postgresql://ann:***@h/q"


def test_another_kind_of_database_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot live"):
        open_database("mysql://h/q")
