"""gc removes what is over, and never what is not finished or not delivered."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.sync.retention import collect
from agentforge.events import kinds
from agentforge.store.blobs import Blobs
from agentforge.store.log.lease import Lease
from agentforge.store.log.run_log import RunLog
from agentforge.workspace.git.newrepo import init_repository
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.snapshots import keep, kept_runs
from agentforge.workspace.git.worktree import worktree_of

OLD = "2026-01-01T10:00:00.000000Z"
DAY_S = 86_400.0
LATER = [
    kinds.RunInterrupted(reason="killed"),
    kinds.EscalationRaised(escalation_id="E1", stage="", kind="question", reason="r", question="q"),
]


class Place:
    """A repository with runs in any state, each with a worktree that holds a file."""

    def __init__(self, folder: Path) -> None:
        self.repo = folder / "repo"
        self.repo.mkdir(parents=True)
        (self.repo / "a.py").write_text("x = 1\n")
        init_repository(self.repo, message="base")
        self.git = Git(self.repo)
        self.environ = {"AGENTFORGE_HOME": str(folder / "af"), "HOME": str(folder)}
        self.worktrees = folder / "af" / "data" / "worktrees" / "r"

    def run(self, name: str, *events: kinds.Event) -> Path:
        worktree = self.worktrees / name
        self.git.add_worktree(worktree, self.git.head())
        first = kinds.RunStarted(
            kind="task",
            run_id=name,
            request="r",
            repo=str(self.repo),
            base_commit=self.git.head(),
            worktree=str(worktree),
        )
        folder = self.repo / ".agentforge" / "tasks" / name
        with RunLog.create(folder, first, clock=lambda: OLD) as log:
            for event in events:
                log.append(event)
        return folder

    def delivered(self, name: str, *, commit: str = "") -> Path:
        made = kinds.Delivered(branch="b", commit=commit or self.git.head(), tree="t")
        return self.run(name, made, kinds.RunFinished(outcome="delivered"))

    def collect(self, **options: Any) -> set[tuple[str, str]]:
        done = collect(self.repo, environ=self.environ, **options)
        return {(item.kind, item.name) for item in done.removed}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_worktree_of_a_task_that_is_over_goes_and_its_run_stays(place: Place) -> None:
    folder = place.delivered("task-20260101-a")
    assert place.collect() == {("worktree", "task-20260101-a")}
    assert not (place.worktrees / "task-20260101-a").exists()
    assert (folder / "events.jsonl").is_file()


def test_checkouts_that_tasks_left_for_each_other_go(place: Place) -> None:
    folder = worktree_of(place.git, data_dir=Path(place.environ["AGENTFORGE_HOME"]) / "data", task_id="any").path.parent
    file = folder / "checkouts" / "checkout-1" / "tree" / "a.py"
    file.parent.mkdir(parents=True)
    file.write_text("x = 1\n")
    assert place.collect(dry_run=True) == {("checkouts", "1 of the tests")} and file.exists()
    assert place.collect() == {("checkouts", "1 of the tests")} and not file.exists()


def test_a_dry_run_removes_nothing(place: Place) -> None:
    folder = place.delivered("task-20260101-a")
    wanted = {("worktree", "task-20260101-a"), ("run", "task-20260101-a")}
    assert place.collect(dry_run=True, older_than_s=DAY_S) == wanted
    assert folder.is_dir()
    assert (place.worktrees / "task-20260101-a" / "a.py").is_file()


def test_an_old_delivered_run_goes_when_an_age_is_given(place: Place) -> None:
    folder = place.delivered("task-20260101-a")
    assert ("run", "task-20260101-a") in place.collect(older_than_s=DAY_S)
    assert not folder.exists()


def test_a_run_that_is_younger_stays(place: Place) -> None:
    folder = place.delivered("task-20260101-a")
    assert ("run", "task-20260101-a") not in place.collect(older_than_s=DAY_S * 40_000)
    assert folder.is_dir()


@pytest.mark.parametrize("events", [[], [LATER[0]], [LATER[1]]])
def test_what_is_not_finished_is_left_alone(place: Place, events: list[kinds.Event]) -> None:
    folder = place.run("task-20260101-a", *events)
    assert place.collect(older_than_s=0.0) == set()
    assert folder.is_dir()
    assert (place.worktrees / "task-20260101-a" / "a.py").is_file()


def test_what_was_not_delivered_keeps_its_run(place: Place) -> None:
    folder = place.run("task-20260101-a", kinds.RunFinished(outcome="aborted"))
    assert place.collect(older_than_s=0.0) == {("worktree", "task-20260101-a")}
    assert folder.is_dir()


def test_a_delivery_whose_commit_is_gone_keeps_everything(place: Place) -> None:
    folder = place.delivered("task-20260101-a", commit="d" * 40)
    assert place.collect(older_than_s=0.0) == set()
    assert folder.is_dir()
    assert (place.worktrees / "task-20260101-a" / "a.py").is_file()


def test_a_run_that_is_being_driven_is_left_alone(place: Place) -> None:
    folder = place.delivered("task-20260101-a")
    lease = Lease.take(folder, since=OLD)
    try:
        assert place.collect(older_than_s=0.0) == set()
    finally:
        lease.release()


def test_a_damaged_run_is_kept_and_named(place: Place) -> None:
    folder = place.delivered("task-20260101-a")
    (folder / "events.jsonl").write_text("{}\n")
    done = collect(place.repo, environ=place.environ, older_than_s=0.0)
    assert done.removed == ()
    assert done.kept[0][0] == "task-20260101-a"


# -- refs and blobs


def _runs(place: Place) -> list[str]:
    return sorted(kept_runs(place.git))


def test_the_snapshots_of_a_run_go_with_it(place: Place) -> None:
    for name in ("task-20260101-a", "task-20260101-b"):
        keep(place.git, name, tree=place.git.tree_of("HEAD"), base=place.git.head(), when=OLD)
    place.delivered("task-20260101-a")
    place.run("task-20260101-b", *LATER)
    place.collect(older_than_s=DAY_S)
    assert _runs(place) == ["task-20260101-b"]


def test_snapshots_of_a_run_whose_folder_is_gone_go_by_their_age(place: Place) -> None:
    fresh = datetime.now(UTC).isoformat()
    for name, when in (("task-20260101-a", OLD), ("task-20261122-b", fresh)):
        keep(place.git, name, tree=place.git.tree_of("HEAD"), base=place.git.head(), when=when)
    assert place.collect() == set()
    assert place.collect(older_than_s=DAY_S, dry_run=True) == {("snapshots", "task-20260101-a")}
    assert len(_runs(place)) == 2
    place.collect(older_than_s=0)
    assert _runs(place) == ["task-20261122-b"]


def test_the_blobs_of_a_run_that_is_over_become_one_file_and_are_read_as_before(place: Place) -> None:
    folder, contents = place.delivered("task-20260101-a"), [b"short", b"long" * 1000]
    digests = [Blobs(folder / "blobs").put(content) for content in contents]
    assert ("blobs", "task-20260101-a") in place.collect(dry_run=True)
    assert not (folder / "blobs" / "pack").exists()
    assert ("blobs", "task-20260101-a") in place.collect()
    assert [path.name for path in (folder / "blobs").iterdir()] == ["pack"]
    assert [Blobs(folder / "blobs").get(digest) for digest in digests] == contents
    assert place.collect() == set()


def test_the_blobs_of_a_run_that_goes_on_stay_as_they_are(place: Place) -> None:
    folder = place.run("task-20260101-b", *LATER)
    Blobs(folder / "blobs").put(b"x")
    assert place.collect() == set()
    assert not (folder / "blobs" / "pack").exists()
