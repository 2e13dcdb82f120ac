"""What becomes of a job after its driving ended, and before it begins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.fleet import disposition
from agentforge.fleet.disposition import after_drive, after_loss, without_room
from agentforge.fleet.ledger import Job

STORAGE = 7


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A task whose log cannot be read says nothing: the end of its process decides."""
    return Job(id="j", repo=str(tmp_path), task_id="t", crashes=1, worker="w")


def test_a_full_disk_is_no_fault_of_the_task(job: Job) -> None:
    said = "error[storage]: /r/events.jsonl cannot be written: No space left on device"
    after = after_drive(job, STORAGE, said, handed_back=False, crashes_allowed=2)
    assert (after.status, after.crashes, after.delay_s > 0) == ("queued", 1, True)


def test_the_last_bad_end_sets_a_task_aside(job: Job) -> None:
    assert after_drive(job, -9, "", handed_back=False, crashes_allowed=3).status == "queued"
    after = after_drive(job, -9, "", handed_back=False, crashes_allowed=2)
    assert (after.status, after.note) == ("quarantined", "ended badly 2 times in a row: signal 9")


def test_the_last_lost_worker_sets_a_task_aside(job: Job) -> None:
    assert after_loss(job, 1, crashes_allowed=2).status == "queued"
    after = after_loss(job, 2, crashes_allowed=2)
    assert (after.status, after.note) == ("quarantined", "ended badly 2 times in a row: worker w was lost")


def test_a_machine_without_room_gives_a_job_back(job: Job, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert without_room(job, tmp_path, tmp_path / "not there") is None
    monkeypatch.setattr(disposition, "_ROOM_BYTES", 1 << 62)
    after = without_room(job)
    assert after is not None
    assert (after.status, after.crashes, "MiB left" in after.note) == ("queued", 1, True)


def test_a_machine_without_the_repository_gives_a_job_back(job: Job, tmp_path: Path) -> None:
    after = without_room(replace(job, repo=str(tmp_path / "moved")))
    assert after is not None
    assert (after.status, after.crashes, "another machine has it" in after.note) == ("queued", 1, True)
