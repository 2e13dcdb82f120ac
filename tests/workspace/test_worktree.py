"""A task's worktree: made, damaged, rebuilt, removed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agentforge.workspace.git import worktree as life
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.worktree import Worktree


@pytest.fixture
def worktree(git: Git, tmp_path: Path) -> Worktree:
    return life.create(git, data_dir=tmp_path / "data dir", task_id="task-1", commit=git.head())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder).iterdir())


def test_it_lies_in_the_data_directory_under_a_name_of_the_repository(
    git: Git, worktree: Worktree, tmp_path: Path
) -> None:
    assert worktree.path.parent.parent == tmp_path / "data dir" / "worktrees"
    assert worktree.path.name == "task-1"
    assert worktree.index.parent == worktree.path.parent
    assert names(worktree.path) == [".git", ".gitignore", "a.txt", "src dir", "tracked.log"]
    assert worktree.snapshot() == git.tree_of("HEAD")


def test_restoring_brings_back_exactly_the_tree(worktree: Worktree) -> None:
    (worktree.path / "kept.txt").write_text("kept\n")
    tree = worktree.snapshot()
    (worktree.path / "a.txt").write_text("spoilt")
    (worktree.path / "kept.txt").unlink()
    shutil.rmtree(worktree.path / "src dir")
    (worktree.path / "src dir").write_text("a file where a folder was")
    (worktree.path / "extra").mkdir()
    (worktree.path / "extra" / "x.txt").write_text("untracked")
    (worktree.path / "debug.log").write_text("ignored")
    (worktree.path / "tracked.log").chmod(0o755)
    life.restore(worktree, tree)
    assert names(worktree.path) == [".git", ".gitignore", "a.txt", "kept.txt", "src dir", "tracked.log"]
    assert worktree.snapshot() == tree
    assert not os.access(worktree.path / "tracked.log", os.X_OK)


def test_restoring_survives_a_snapshot_of_the_damage(worktree: Worktree) -> None:
    tree = worktree.snapshot()
    (worktree.path / "a.txt").write_text("rejected\n")
    (worktree.path / "new.txt").write_text("rejected\n")
    worktree.snapshot()
    life.restore(worktree, tree)
    assert worktree.snapshot() == tree
    assert not (worktree.path / "new.txt").exists()


def test_restoring_removes_repositories_and_a_changed_git_file(worktree: Worktree, tmp_path: Path) -> None:
    tree = worktree.snapshot()
    (worktree.path / "inner" / ".git").mkdir(parents=True)
    (worktree.path / "inner" / ".git" / "HEAD").write_text("ref: refs/heads/x\n")
    (worktree.path / ".git").unlink()
    (worktree.path / ".git").mkdir()
    life.restore(worktree, tree)
    assert not (worktree.path / "inner").exists()
    assert (worktree.path / ".git").read_text().startswith("gitdir: ")
    assert Git.open(worktree.path).top == worktree.path


@pytest.mark.parametrize("damage", ["files gone", "record gone", "both gone", "whole"])
def test_repair_makes_it_stand_again(git: Git, worktree: Worktree, damage: str) -> None:
    (worktree.path / "work.txt").write_text("work\n")
    tree = worktree.snapshot()
    record = git.git_dir_of(worktree.path)
    if damage in ("files gone", "both gone"):
        shutil.rmtree(worktree.path)
    if damage in ("record gone", "both gone"):
        shutil.rmtree(record)
    life.repair(worktree, commit=git.head(), tree=tree)
    assert (worktree.path / "work.txt").read_text() == "work\n"
    assert worktree.snapshot() == tree


def test_creating_twice_starts_afresh(git: Git, worktree: Worktree, tmp_path: Path) -> None:
    (worktree.path / "left.txt").write_text("over")
    worktree.snapshot()
    again = life.create(git, data_dir=tmp_path / "data dir", task_id="task-1", commit=git.head())
    assert again.path == worktree.path
    assert again.snapshot() == git.tree_of("HEAD")


def test_removal_leaves_nothing_and_can_be_repeated(git: Git, worktree: Worktree) -> None:
    locked = worktree.path / "locked"
    locked.mkdir()
    (locked / "x").write_text("x")
    locked.chmod(0)
    worktree.snapshot() if os.geteuid() == 0 else None
    life.remove(worktree)
    life.remove(worktree)
    assert names(worktree.path.parent) == []
    assert not list(git.common_dir.glob("worktrees/*"))
