"""Snapshots of a folder: in its own repository, else in a private one; files come back without touching anything else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentforge.errors import StorageError
from agentforge.workspace.git import tree_snapshot
from agentforge.workspace.git.private_repository import PrivateGit, snapshot_repository
from agentforge.workspace.git.restore import Restoration, plan_restore, restore_files
from agentforge.workspace.protection.change_detector import Watch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = (tmp_path / "folder").resolve()
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    return folder


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def test_a_folder_without_a_repository_gets_a_private_one_elsewhere(folder: Path, tmp_path: Path) -> None:
    git = snapshot_repository(folder, data=tmp_path / "data")
    assert isinstance(git, PrivateGit)
    assert git.list_files(git.snapshot(folder, index=tmp_path / "index")) == ["a.txt"]
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "sub"]
    again = snapshot_repository(folder, data=tmp_path / "data")
    assert again is not None and again.found_at == git.found_at


def test_a_repository_is_its_own_place_and_its_subfolders_are_not(folder: Path, tmp_path: Path) -> None:
    _git(folder, "init", "-q")
    assert isinstance(snapshot_repository(folder, data=tmp_path / "data"), PrivateGit)  # it has no commit yet
    _git(folder, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
    assert not isinstance(snapshot_repository(folder, data=tmp_path / "data"), PrivateGit)
    below = snapshot_repository(folder / "sub", data=tmp_path / "data")
    assert isinstance(below, PrivateGit) and below.top == folder / "sub"


def test_a_home_and_a_folder_of_very_many_files_are_left_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    assert snapshot_repository(folder, data=tmp_path / "data") is None
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(tree_snapshot, "MOST_FILES", 0)
    assert snapshot_repository(folder, data=tmp_path / "data") is None
    watch = Watch(lambda: None, index=tmp_path / "index")
    assert (watch.tree(), watch.diff("", since="")) == ("", "")


def test_files_come_back_with_their_modes_links_and_bytes(folder: Path, tmp_path: Path) -> None:
    git = snapshot_repository(folder, data=tmp_path / "data")
    assert git is not None
    (folder / "run.sh").write_bytes(b"#!/bin/sh\r\n\xff\x00")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("a.txt")
    before = git.snapshot(folder, index=tmp_path / "index")
    for name in ("run.sh", "link"):
        (folder / name).unlink()
    (folder / "link").mkdir()
    (folder / "link" / "made.txt").write_text("by the session\n")
    (folder / "theirs.txt").write_text("by the user\n")
    now = git.snapshot(folder, index=tmp_path / "index")
    plan = plan_restore(git, now=now, wanted=before, own={"link/made.txt"})
    assert (plan.removed, plan.kept) == (("link/made.txt",), ("theirs.txt",))
    restore_files(git, plan, wanted=before, index=tmp_path / "other")
    assert (folder / "run.sh").read_bytes() == b"#!/bin/sh\r\n\xff\x00"
    assert (folder / "run.sh").stat().st_mode & 0o111
    assert (folder / "link").readlink() == Path("a.txt")
    assert (folder / "theirs.txt").exists()


def test_nothing_is_removed_through_a_link_that_leads_out(folder: Path, tmp_path: Path) -> None:
    git = snapshot_repository(folder, data=tmp_path / "data")
    assert git is not None
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.txt").write_text("not yours\n")
    (folder / "out").symlink_to(outside)
    with pytest.raises(StorageError, match="leads out"):
        restore_files(git, Restoration(removed=("out/x.txt",)), wanted=git.tree_of("HEAD"), index=tmp_path / "i")
    assert (outside / "x.txt").exists()
