"""What is removed with a task, and what never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.app.composition.run_inputs import scratch_of
from agentforge.app.tasks.left_worktrees import taken_over
from agentforge.app.tasks.stop import abort
from agentforge.app.tasks.workplace import drop_worktree
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.store.log.lease import Lease
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.workspace.git.newrepo import commit_everything
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.worktree import Worktree
from tests.support.run_states import run_state


@pytest.mark.parametrize("named", ["", ".", "..", "{tmp}/precious", "{tmp}/worktrees/x/other", "worktrees/x/task-1"])
def test_a_folder_that_no_task_could_have_been_given_is_left_alone(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    for folder in ("precious", "worktrees/x/other", "worktrees/x/task-1"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "work.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    drop_worktree(Git(repo), run_state(run_id="task-1", worktree=named.replace("{tmp}", str(tmp_path))))
    assert len(list(tmp_path.glob("**/work.txt"))) == 3


def test_the_worktree_of_the_task_goes(tmp_path: Path, repo: Path) -> None:
    place = tmp_path / "worktrees" / "x" / "task-1"
    place.mkdir(parents=True)
    drop_worktree(Git(repo), run_state(run_id="task-1", worktree=str(place)))
    assert not place.exists()


def test_an_abort_does_not_touch_what_the_trail_names_elsewhere(repo: Path, tell: object, tmp_path: Path) -> None:
    assert callable(tell)
    tell()
    keep = tmp_path / "keep.txt"
    keep.write_text("mine")
    assert abort(repo, "task-20260101-slugify").state.progress.outcome == "aborted"
    assert keep.exists()


@pytest.fixture
def git(repo: Path) -> Git:
    (repo / ".gitignore").write_text("*.log\n")
    for number in range(20):
        (repo / "lib").mkdir(exist_ok=True)
        (repo / "lib" / f"file_{number}.py").write_text(f"value = {number}\n")
    commit_everything(repo, message="many")
    return Git(repo)


def _delivered(git: Git, home: Path) -> tuple[Worktree, RunState]:
    """A delivered task with its worktree, and the state of the next task of the repository, which starts at another commit."""
    name = "task-20260101-slugify"
    place = home / "worktrees" / "x" / name
    git.add_worktree(place, git.head())
    first = kinds.RunStarted(
        kind="task", run_id=name, request="r", repo=str(git.top), base_commit=git.head(), worktree=str(place)
    )
    with RunLog.create(git.top / ".agentforge" / "tasks" / name, first, clock=utc_now) as log:
        log.append(kinds.Delivered(branch="b", commit=git.head(), tree="t"))
        log.append(kinds.RunFinished(outcome="delivered"))
    old = Worktree(git=git, path=place, index=scratch_of(place) / "index")
    old.snapshot()
    (git.top / "lib" / "file_1.py").write_text("value = 100\n")
    (git.top / "lib" / "file_2.py").unlink()
    commit_everything(git.top, message="another")
    return old, run_state(run_id="task-2", worktree=str(place.with_name("task-2")), base_commit=git.head())


def test_a_task_takes_over_the_worktree_of_a_delivered_one(git: Git, tmp_path: Path) -> None:
    old, state = _delivered(git, tmp_path)
    (old.path / "left.log").write_text("ignored")
    (old.path / "lib" / "__pycache__").mkdir()
    inode = (old.path / "lib" / "file_3.py").stat().st_ino
    assert taken_over(state, git, fewest=1)
    new = Path(state.identity.worktree)
    assert (new / "lib" / "file_3.py").stat().st_ino == inode
    assert not old.path.exists() and not scratch_of(old.path).exists()
    git.add_worktree(tmp_path / "fresh", git.head())
    found, fresh = (
        {
            str(path.relative_to(top)): path.is_dir() or path.read_bytes()
            for path in top.rglob("*")
            if path.name != ".git"
        }
        for top in (new, tmp_path / "fresh")
    )
    assert found == fresh
    assert git.snapshot(new, index=tmp_path / "index") == git.tree_of("HEAD")
    assert len(list(git.common_dir.glob("worktrees/*"))) == 2


def test_a_worktree_that_somebody_changed_or_works_in_stays(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, state = _delivered(git, tmp_path)
    assert not taken_over(state, git)  # it is too small to be worth it
    monkeypatch.chdir(old.path / "lib")
    assert not taken_over(state, git, fewest=1)
    monkeypatch.chdir(tmp_path)
    (old.path / "lib" / "mine.py").write_text("mine = 1\n")
    assert not taken_over(state, git, fewest=1)
    assert (old.path / "lib" / "mine.py").exists() and not Path(state.identity.worktree).exists()


@pytest.mark.parametrize("step", ["restore", "remove_tree"])
def test_a_takeover_that_fails_leaves_room_for_a_new_worktree(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    _, state = _delivered(git, tmp_path)

    def fails(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(f"agentforge.workspace.git.worktree.{step}", fails)
    assert not taken_over(state, git, fewest=1)
    new = Path(state.identity.worktree)
    assert not new.exists()
    git.add_worktree(new, git.head())
    assert git.snapshot(new, index=tmp_path / "index") == git.tree_of("HEAD")


def test_the_worktree_of_a_task_that_is_not_over_stays(git: Git, tmp_path: Path) -> None:
    old, state = _delivered(git, tmp_path)
    lease = Lease.take(git.top / ".agentforge" / "tasks" / old.path.name, since="2026-01-01T00:00:00.000000Z")
    assert not taken_over(state, git, fewest=1)
    lease.release()
    assert (old.path / "lib" / "file_3.py").exists()
