"""A real disk that is full: told as such, nothing altered, and the run goes on to its end when there is room again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentforge.errors import StorageError
from agentforge.workspace.git.repository import Git
from tests.support.kills.ends import differences, end_of, not_altered, repeated, script
from tests.support.world import REQUEST, World, make_world

_STORAGE = 7
_KIB = 1024
_ROOMY = 64 * _KIB
_PARTS = (0.35, 0.7, 0.95)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory, as large as `_ROOMY` KiB."""
    place = tmp_path.resolve() / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_ROOMY}k", "tmpfs", str(place)], capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def _resize(disk: Path, kib: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={kib}k", str(disk)], check=True)


def _used_kib(disk: Path) -> int:
    found = os.statvfs(disk)
    return (found.f_blocks - found.f_bfree) * found.f_frsize // _KIB


def _fresh(disk: Path, tmp_path: Path, pycache: Path) -> World:
    for left in disk.iterdir():
        subprocess.run(["rm", "-rf", str(left)], check=True)
    return make_world(disk / "repo", disk / "home", pycache=pycache, results=tmp_path / "results")


def test_a_run_on_a_disk_that_is_full_goes_on_when_there_is_room_again(
    small_disk: Path, tmp_path: Path, pycache: Path
) -> None:
    world = _fresh(small_disk, tmp_path, pycache)
    before = _used_kib(small_disk)
    assert world.start(script()).code == 0
    wanted, needed = end_of(world), _used_kib(small_disk) - before
    failures: list[str] = []
    for part in _PARTS:
        world = _fresh(small_disk, tmp_path, pycache)
        model = world.model(script())
        _resize(small_disk, before + int(needed * part))
        done = world.run("start", REQUEST, "--model", model, "--json")
        _resize(small_disk, _ROOMY)
        if (done.code, done.json["error"]["slug"]) != (_STORAGE, "storage"):
            failures.append(f"{part}: told as {done.code}: {done.out[-300:]} {done.err[-300:]}")
        failures += not_altered(world, f"{part}, full")
        resumed = world.run("resume", world.task, "--json")
        if resumed.code != 0:
            failures.append(f"{part}: resumed: exit {resumed.code}: {resumed.out[-400:]} {resumed.err[-300:]}")
            continue
        failures += [*differences(end_of(world), wanted), *repeated(world), *not_altered(world, f"{part}, resumed")]
    assert failures == []


def test_whatever_git_cannot_write_on_a_full_disk_is_told_as_that(
    small_disk: Path, tmp_path: Path, pycache: Path
) -> None:
    git = Git(_fresh(small_disk, tmp_path, pycache).repo)
    head, tree = git.head(), git.tree_of("HEAD")
    _resize(small_disk, 4 * _KIB)
    (git.top / "more.txt").write_text("more\n")
    with pytest.raises(OSError, match="No space"), (small_disk / "filler").open("wb") as filler:
        while True:
            filler.write(bytes(_KIB))
            filler.flush()
    writes: tuple[Callable[[], object], ...] = (
        lambda: git.update_ref("refs/agentforge/runs/one", head),
        lambda: git.add_note(head, "noted", "refs/notes/agentforge"),
        lambda: git.commit_tree(tree, parents=[head], message="m"),
        lambda: git.add_worktree(small_disk / "home" / "wt", head),
        lambda: git.snapshot(git.top, index=small_disk / "home" / "index"),
    )
    for write in writes:
        with pytest.raises(StorageError):
            write()
    (small_disk / "filler").unlink()
    for write in writes:
        write()
