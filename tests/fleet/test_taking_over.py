"""What was sent to the workers and is not heard of: who took it and never began is not waited for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentforge.fleet.database import Database
from agentforge.fleet.ledger import Job, Ledger
from agentforge.fleet.worker import Plan, Worker


@dataclass
class _Workflow:
    status: str


@dataclass
class _Workflows:
    """What DBOS knows of workflows, by their ids."""

    known: dict[str, str]
    cancelled: list[str] = field(default_factory=list)

    def list_workflows(self, *, workflow_ids: list[str], load_input: bool, load_output: bool) -> list[_Workflow]:
        assert not (load_input or load_output)
        return [_Workflow(self.known[name]) for name in workflow_ids if name in self.known]

    def cancel_workflow(self, name: str) -> None:
        self.cancelled.append(name)


def _looked_at_twice(database: Database, known: dict[str, str]) -> _Workflows:
    """By a worker that is patient with nobody."""
    worker = Worker(database=database, environ={}, plan=Plan(lease_s=0.0), tell=lambda _line: None)
    workflows = _Workflows(known)
    for _ in range(2):
        worker._take_over(workflows)
    return workflows


@pytest.fixture
def sent(ledger: Ledger) -> Job:
    found = ledger.send(ledger.add(Path("/repo"), "t"))
    assert found is not None
    return found


def test_a_job_that_a_worker_took_and_never_began_comes_back_without_counting_as_a_crash(
    database: Database, ledger: Ledger, sent: Job
) -> None:
    workflows = _looked_at_twice(database, {sent.send_id: "PENDING"})
    back = ledger.get(sent.id)
    assert (back.status, back.crashes, workflows.cancelled) == ("queued", 0, [sent.send_id])
    assert ledger.begin(sent.id, sent.attempt, worker="woke up late") is None
    again = ledger.send(back)
    assert again is not None and ledger.begin(again.id, again.attempt, worker="another") is not None
    assert ledger.begin(sent.id, sent.attempt, worker="woke up later") is None


def test_a_job_that_still_stands_in_line_is_left_there(database: Database, ledger: Ledger, sent: Job) -> None:
    workflows = _looked_at_twice(database, {sent.send_id: "ENQUEUED"})
    assert (ledger.get(sent.id).status, workflows.cancelled) == ("sent", [])
