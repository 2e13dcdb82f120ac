"""What is removed with a task, and what never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.app.tasks.stop import abort
from agentforge.app.tasks.workplace import drop_worktree
from agentforge.workspace.git.repository import Git
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
