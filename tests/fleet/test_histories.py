"""No answer of the database that is lost loses a job, or has one done twice: histories of many seeds, each checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

from agentforge.fleet.database import Database, open_database
from agentforge.fleet.ledger import Job
from tests.support.fleet.histories import LOST, Operation, Standing, explains, standing_of
from tests.support.fleet.simulation import Faults, Recorder, World

SEEDS = 240
_PARTS = 4
_FEW = 6
_MORE_BEGIN, _MORE, _MORE_PARTS = 10_000, 960, 8
_FAULTS = Faults(
    lost_answer=0.12, refused=0.03, killed=0.008, frozen=0.01, away=0.002, drift=0.3, clock_jumps=0.005, until=200.0
)
_END_S = 3000.0
_OPEN: list[Database] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Let go of every database that was played on."""
    yield
    while _OPEN:
        _OPEN.pop().close()


def _played(
    seed: int,
    *,
    database: Database | None = None,
    faults: Faults = _FAULTS,
    kind: Any = Recorder,
    until: float = _END_S,
) -> World:
    database = database or open_database("sqlite://")
    _OPEN.append(database)
    world = World(seed, database, faults=faults, kind=kind)
    world.play(until)
    return world


def _unexplained(world: World) -> list[str]:
    """Jobs whose history no single order of its operations explains."""
    rows = {row.id: row for row in world.ledger.jobs(limit=1000)}
    return [
        f"no order explains {rows[job_id].task_id}: {history}"
        for job_id, history in world.history.items()
        if not explains(history, standing_of(rows[job_id]))
    ]


def _failures(seeds: Iterable[int]) -> dict[int, list[str]]:
    """By seed, what went wrong in its course of events."""
    worlds = ((seed, _played(seed)) for seed in seeds)
    found = {seed: [*world.problems(), *_unexplained(world)] for seed, world in worlds}
    return {seed: problems for seed, problems in found.items() if problems}


@pytest.mark.parametrize("part", range(_PARTS))
def test_every_job_is_done_once_whatever_answers_are_lost(part: int) -> None:
    assert _failures(range(part, SEEDS, _PARTS)) == {}


@pytest.mark.chaos
@pytest.mark.parametrize("part", range(_MORE_PARTS))
def test_every_job_is_done_once_in_many_more_courses_of_events(part: int) -> None:
    assert _failures(range(_MORE_BEGIN + part, _MORE_BEGIN + _MORE, _MORE_PARTS)) == {}


def test_every_job_is_done_once_in_a_few_courses_of_events() -> None:
    """The example of this kind for the fast tests."""
    assert _failures(range(SEEDS, SEEDS + _FEW)) == {}


def test_the_same_on_a_postgresql(fleet: ModuleType) -> None:
    failures = {}
    try:
        with fleet.postgres() as server:
            for seed in range(5):
                database = open_database(server.another(f"seed{seed}"))
                world = _played(seed, database=database)
                if found := [*world.problems(), *_unexplained(world)]:
                    failures[seed] = found
                database.close()
    except fleet.NoPostgres as exc:
        pytest.skip(str(exc))
    assert failures == {}


def test_a_server_that_loses_changes_it_has_confirmed_loses_no_job() -> None:
    """A failover may undo what was answered. No queue can then promise one holder; the run's own lease keeps it to one delivery."""
    faults = Faults(lost_change=0.1, lost_answer=0.05, killed=0.005, drift=0.1, until=200.0)
    worlds = {seed: _played(seed, faults=faults) for seed in range(60)}
    left = {seed: (world.all_done(), [run.delivered for run in world.runs.values()]) for seed, world in worlds.items()}
    assert {seed: found for seed, found in left.items() if not found[0] or {*found[1]} != {1}} == {}


class Forgetful(Recorder):
    """The ledger as it was: a claim whose answer was lost is not found again, and a beat speaks for all under a worker's name."""

    def claim(self, worker: str, *, driving: Collection[str], **given: Any) -> list[Job]:
        """Take every job under the worker's name for one that it drives."""
        mine = {job_id for job_id, _ in self.driven_by(worker)}
        return super().claim(worker, driving={*driving, *mine}, **given)

    def beat(self, worker: str, driving: Collection[str]) -> None:
        """Speak for all of them."""
        super().beat(worker, [job_id for job_id, _ in self.driven_by(worker)])


def test_the_checks_find_a_queue_that_loses_jobs() -> None:
    found = (_played(seed, kind=Forgetful, until=600.0).problems() for seed in range(60))
    assert any("is running by" in problem for problems in found for problem in problems)


class Impatient(Recorder):
    """A ledger whose `end`, asked again after a lost answer, takes itself for superseded."""

    def end(self, job: Job, status: str, **given: Any) -> bool:
        """Say no whenever the job does not run any more."""
        holds = self.get(job.id).status == "running"
        return self._kept(job, "end", status, lambda: super(Recorder, self).end(job, status, **given) and holds)


def test_the_checks_find_an_answer_that_no_order_explains() -> None:
    worlds = [_played(seed, kind=Impatient) for seed in range(8)]
    assert [world.problems() for world in worlds] == [[]] * 8  # nothing is lost by it
    assert any(_unexplained(world) for world in worlds)


@pytest.mark.parametrize(
    ("history", "last"),
    [
        ([("claim", "a", 1, "", 0, 1, True), ("claim", "b", 1, "", 2, 3, True)], ("running", 1, "b")),
        ([("claim", "a", 1, "", 0, 1, True), ("end", "a", 1, "done", 2, 3, True)], ("running", 1, "a")),
        ([("claim", "a", 1, "", 0, LOST, None)], ("running", 1, "b")),
        ([("end", "a", 1, "done", 0, 1, True), ("claim", "a", 1, "", 2, 3, True)], ("done", 1, "a")),
    ],
    ids=["two holders", "an end that did not stay", "somebody else's claim", "an end before the claim"],
)
def test_what_cannot_have_happened_is_not_explained(history: list[Any], last: Any) -> None:
    assert not explains([Operation(*item) for item in history], Standing(*last))


def test_what_can_have_happened_is_explained() -> None:
    """A lost claim that happened, a lost end that did not, a job that was taken over meanwhile."""
    history = [
        Operation("claim", "a", 1, "", 0, LOST, None), Operation("claim", "a", 1, "", 2, 3, True),
        Operation("end", "a", 1, "done", 4, LOST, None), Operation("take_back", "b", 1, "queued", 4, 6, True),
        Operation("end", "a", 1, "done", 7, 8, False), Operation("claim", "b", 2, "", 5, 9, True),
    ]  # fmt: skip
    assert explains(history, Standing("running", 2, "b"))
    assert explains(history[:2], Standing("running", 1, "a"))
