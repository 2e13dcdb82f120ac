"""What the kernel tells of touched files is all that was touched, or nothing is believed and everything is looked at."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.workspace.git.command import Checkout
from agentforge.workspace.git.repository import Git
from agentforge.workspace.protection.reconciliation import Looks, look_at, scan
from agentforge.workspace.protection.touched_names import TouchedNames
from agentforge.workspace.protection.workspace_guard import Guard

_COMMIT = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "commit", "-qm", "one")
_FILES = ("a.txt", "deep/b.txt", "deep/er/c.txt", "other/d.txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in _FILES:
        (tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / name).write_text("old\n")
    return tmp_path / "work"


@pytest.fixture
def told(root: Path) -> TouchedNames:
    names = TouchedNames(root)
    if not names.begin():
        pytest.skip("the kernel does not tell on this file system")
    return names


def _mapped(root: Path) -> None:
    """Written through a mapping in memory, with the times put back."""
    file = root / "deep/b.txt"
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as place:
        place[:3] = b"new"
    os.utime(file, ns=times)


def _by_another_name(root: Path) -> None:
    """A second name of a file is made, written to, and removed: nothing is said of the first one."""
    (root / "other/link").hardlink_to(root / "deep/b.txt")
    (root / "other/link").write_text("new\n")
    (root / "other/link").unlink()


def _by_a_name_that_stays(root: Path) -> None:
    (root / "other/link").hardlink_to(root / "deep/b.txt")
    (root / "other/link").write_text("new\n")


def _by_a_name_that_moved(root: Path) -> None:
    (root / "other/link").hardlink_to(root / "deep/b.txt")
    (root / "other/link").write_text("new\n")
    (root / "other/link").rename(root / "other/d.txt")
    (root / "other/d.txt").unlink()


def _by_a_name_in_a_new_folder(root: Path) -> None:
    (root / "new").mkdir()
    (root / "new/link").hardlink_to(root / "deep/b.txt")
    (root / "new/link").write_text("new\n")
    (root / "new/link").unlink()
    (root / "new").rmdir()


def _renamed_over(root: Path) -> None:
    (root / "deep/.half.tmp").write_text("new\n")
    (root / "deep/.half.tmp").rename(root / "deep/b.txt")


def _exchanged(root: Path) -> None:
    library = ctypes.CDLL(None)
    assert library.renameat2(-100, bytes(root / "a.txt"), -100, bytes(root / "deep/b.txt"), 2) == 0


def _folder_moved(root: Path) -> None:
    (root / "deep").rename(root / "moved")
    (root / "moved/b.txt").write_text("new\n")
    (root / "moved").rename(root / "deep")


def _too_much(root: Path) -> None:
    for number in range(20_000):
        (root / "other/d.txt").write_text(str(number))
        (root / "a.txt").write_text(str(number))
    (root / "deep/b.txt").write_text("new\n")


_WAYS: list[Callable[[Path], object]] = [
    lambda root: (root / "deep/b.txt").write_text("new\n"),
    lambda root: (root / "deep/b.txt").chmod(0o600),
    lambda root: (root / "deep/b.txt").unlink(),
    lambda root: (root / "deep/b.txt").rename(root / "e.txt"),
    lambda root: (root / "deep/er/new.txt").write_text("new\n"),
    lambda root: (root / "deep/er").chmod(0o700),
    lambda root: os.utime(root / "a.txt", ns=(1, 1)),
    lambda root: os.truncate(root / "a.txt", 1),
    lambda root: (root / "new/er").mkdir(parents=True),
    lambda root: (root / "link").symlink_to("a.txt"),
    lambda root: os.mkfifo(root / "pipe"),
    _mapped, _by_another_name, _by_a_name_that_stays, _by_a_name_that_moved, _by_a_name_in_a_new_folder,
    _renamed_over, _exchanged, _folder_moved,
    pytest.param(_too_much, id="_too_much"),
]  # fmt: skip


def _as_told(root: Path, before: Looks, names: frozenset[str]) -> Looks:
    """How everything looks where only the names that were told are looked at."""
    found = {name: look_at(f"{root}/{name}") for name in names}
    merged = {**before, **{name: look for name, look in found.items() if look is not None}}
    return {name: look for name, look in merged.items() if found.get(name, look) is not None}


@pytest.mark.parametrize("way", _WAYS)
def test_whatever_is_done_is_told_or_everything_is_looked_at(
    root: Path, told: TouchedNames, way: Callable[[Path], object]
) -> None:
    before = scan(root, followed=told)
    assert told.taken() == frozenset()
    way(root)
    names = told.taken()
    assert names is None or _as_told(root, before, names) == scan(root)
    assert names != frozenset()


def test_what_a_process_wrote_that_was_killed_is_told(root: Path, told: TouchedNames) -> None:
    scan(root, followed=told)
    code = "import mmap, os; f = open('deep/b.txt', 'r+b'); mmap.mmap(f.fileno(), 0)[0] = 120; os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], cwd=root, check=False)
    assert told.taken() == {"deep/b.txt"}
    assert told.taken() == frozenset()


def test_a_file_that_has_two_names_from_the_beginning_is_never_believed(root: Path, told: TouchedNames) -> None:
    (root / "again").hardlink_to(root / "a.txt")
    scan(root, followed=told)
    assert told.taken() is None


_LONG_AGO = 10**18


def _read_anew(git: Git, root: Path) -> str:
    """The tree of the files where nothing is known of any of them."""
    index = root.with_name("other")
    at = Checkout(git_dir=git.git_dir_of(root), work_tree=root, index=index)
    git.command.output("read-tree", "HEAD", at=at)  # knows what is tracked, and the time of no file
    return git.snapshot(root, index=index)


@pytest.fixture
def guard(root: Path, tmp_path: Path) -> Guard:
    (root / ".gitignore").write_text("*.log\n")
    for command in (("init", "-q"), ("add", "-A"), _COMMIT):
        subprocess.run(["git", *command], cwd=root, check=True)
    git = Git(root)
    git.add_worktree(tmp_path / "tree", "HEAD")
    os.utime(tmp_path / "tree/deep/er/c.txt", ns=(_LONG_AGO, _LONG_AGO))
    git.snapshot(tmp_path / "tree", index=git.git_dir_of(tmp_path / "tree") / "index")
    guard = Guard(git, tmp_path / "tree", index=tmp_path / "index", fewest=0)
    guard.stands(git.tree_of("HEAD"))
    return guard


def _edits(root: Path) -> None:
    (root / "deep/b.txt").write_text("two\n")
    (root / "deep/er/c.txt").unlink()
    (root / "deep/er/noise.log").write_text("ignored\n")
    (root / "deep/er/__pycache__").mkdir()
    (root / "deep/er/__pycache__/c.pyc").write_bytes(b"\0")
    (root / "name with ü").write_text("new\n")


def _kinds(root: Path) -> None:
    """A file becomes a folder, a folder a file, a file a link, and one can be run."""
    (root / "a.txt").unlink()
    (root / "a.txt").mkdir()
    (root / "a.txt/inner").write_text("new\n")
    (root / "other/d.txt").unlink()
    (root / "other").rmdir()
    (root / "other").write_text("new\n")
    (root / "deep/b.txt").unlink()
    (root / "deep/b.txt").symlink_to("er/c.txt")
    (root / "deep/er/c.txt").chmod(0o755)


def _rules(root: Path) -> None:
    """What was ignored is recorded from now on, and the other way round."""
    (root / "deep/er/noise.log").write_text("ignored\n")
    (root / "new.txt").write_text("new\n")
    (root / ".gitignore").write_text("new.txt\n")


def _same_size_and_time(root: Path) -> None:
    times = (root / "a.txt").stat()
    (root / "a.txt").write_text("new\n")
    os.utime(root / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))


def _within_the_second(root: Path) -> None:
    """Nothing that git compares is another one: it knows the time of a change by the second."""
    (root / "deep/er/c.txt").write_text("new\n")
    os.utime(root / "deep/er/c.txt", ns=(_LONG_AGO, _LONG_AGO))


_WAYS_OF_EDITING = [
    _within_the_second,
    _edits,
    _kinds,
    _rules,
    _same_size_and_time,
    _by_another_name,
    _mapped,
    _renamed_over,
]


@pytest.mark.parametrize("edit", _WAYS_OF_EDITING)
@pytest.mark.parametrize("after", ["", "a.txt"], ids=["at once", "after another edit"])
def test_the_tree_is_that_of_somebody_who_remembers_nothing(
    guard: Guard, tmp_path: Path, edit: Callable[[Path], None], after: str
) -> None:
    root, git = tmp_path / "tree", Git(tmp_path / "work")
    assert guard.tree() == git.tree_of("HEAD")
    if after:
        (root / after).write_text("something else\n")
        guard.tree()
    edit(root)
    assert guard.tree() == guard.tree() == _read_anew(git, root)
