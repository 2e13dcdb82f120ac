"""Locks that a killed git left behind: waited for, removed when nobody can hold them any more, and never those of a person."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agentforge.errors import RepositoryError
from agentforge.workspace.git.command import STALE_S, lock_in_the_way
from agentforge.workspace.git.repository import Git

REF = "refs/agentforge/runs/one"


def _left(lock: Path, *, age_s: float) -> Path:
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_bytes(b"")
    os.utime(lock, (time.time() - age_s, time.time() - age_s))
    return lock


@pytest.mark.parametrize("ref", [REF, "refs/heads/agentforge/one", "refs/notes/agentforge"])
def test_the_lock_of_a_killed_git_keeps_no_ref_from_moving(git: Git, ref: str) -> None:
    lock = _left(git.common_dir / f"{ref}.lock", age_s=STALE_S + 1)
    git.update_ref(ref, git.head())
    assert git.resolve(ref) == git.head()
    assert not lock.exists()


def test_a_note_is_written_over_the_lock_of_a_killed_git(git: Git) -> None:
    _left(git.common_dir / "refs/notes/agentforge.lock", age_s=STALE_S + 1)
    git.add_note(git.head(), "noted", "refs/notes/agentforge")
    assert git.command.line("notes", "--ref=refs/notes/agentforge", "show", git.head()) == "noted"


def test_a_private_index_is_written_over_the_lock_of_a_killed_git(git: Git, tmp_path: Path) -> None:
    index = tmp_path / "private" / "index"
    index.parent.mkdir()
    _left(index.with_name("index.lock"), age_s=STALE_S + 1)
    git.materialise(git.head(), tmp_path / "there", index=index)
    assert (tmp_path / "there").is_dir()


def test_the_lock_of_a_person_s_index_stays_however_old_it_is(git: Git) -> None:
    lock = _left(git.common_dir / "index.lock", age_s=3600)
    with pytest.raises(RepositoryError, match="index"):
        git.command.output("read-tree", "HEAD")
    assert lock.exists()


def test_only_a_lock_at_our_places_is_one(tmp_path: Path) -> None:
    def named(path: str) -> Path | None:
        return lock_in_the_way(f"fatal: Unable to create '{path}': File exists.".encode(), places=[tmp_path / "refs"])

    assert named(f"{tmp_path}/refs/notes/agentforge.lock") == tmp_path / "refs/notes/agentforge.lock"
    assert named(f"{tmp_path}/packed-refs.lock") is None
    assert named(f"{tmp_path}/refs/../mine.lock") is None
    assert lock_in_the_way(b"fatal: bad object", places=[tmp_path]) is None
