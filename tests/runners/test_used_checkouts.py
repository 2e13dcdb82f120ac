"""A large checkout that was used is equal to a new one, and holds nothing of what a run left in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.suite.used_checkouts import Shelf, UsedCheckout, age
from agentforge.workspace.git.repository import Git
from agentforge.workspace.protection.protected_paths import protected_paths_of
from agentforge.workspace.protection.reconciliation import Looks, scan

_FEW = 10
_OLD = 1_000_000_000.0
_COMMIT = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "commit", "-qm", "one")


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """How full the disk of the tests is decides nothing."""
    monkeypatch.setattr("agentforge.suite.used_checkouts._LEAST_FREE", 0.0)


@pytest.fixture
def git(tmp_path: Path) -> Git:
    repo = tmp_path / "repo"
    for number in range(40):
        file = repo / f"lib/part_{number % 4}/deep/file_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"value = {number}\n")
    (repo / "top.py").write_text("top = 1\n")
    (repo / "run.sh").write_text("true\n")
    (repo / "run.sh").chmod(0o755)
    for command in (("init", "-q"), ("add", "-A"), _COMMIT):
        subprocess.run(["git", *command], cwd=repo, check=True)
    return Git.open(repo)


def _contents(root: Path) -> dict[str, object]:
    """Everything below a folder: kind and permissions, and bytes or where it leads."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        what = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(root))] = (path.lstat().st_mode, what)
    return found


def _again(git: Git, tmp_path: Path, use: Callable[[Path], object], *, tree: str = "") -> tuple[Path, dict[str, int]]:
    """Use a checkout, then check a tree out of the same shelf; the second checkout, and the inodes of the first one."""
    shelf, base = Shelf(fewest=_FEW), git.tree_of("HEAD")
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    used = shelf.check_out(git, base, first)
    assert used is not None
    inodes = {str(path.relative_to(first / "tree")): path.lstat().st_ino for path in (first / "tree").rglob("*")}
    use(first / "tree")
    assert shelf.put_back(used)
    again = shelf.check_out(git, tree or base, second)
    assert again is not None
    assert _but_for_reading(again.looks) == _but_for_reading(scan(second / "tree", closely=True))
    assert not first.exists()
    return second / "tree", inodes


def _but_for_reading(looks: Looks) -> Looks:
    """Looks without the time of reading: git reads a file that was written in the same moment as its index."""
    return {name: look[:5] for name, look in looks.items()}


def _spoil(root: Path) -> None:
    """What tests leave behind: files that were written, made, removed, replaced, read or opened to all, and a repository."""
    (root / "lib/part_0/deep/file_0.py").write_text("value = 1\n")  # same size
    (root / "lib/part_0/deep/file_4.py").unlink()
    (root / "lib/part_0/deep/__pycache__").mkdir()
    (root / "lib/part_0/deep/__pycache__/file.pyc").write_bytes(b"\0")
    (root / "lib/part_0/deep/file_8.py").chmod(0o666)
    (root / "top.py").unlink()
    (root / "top.py").symlink_to("/etc/passwd")
    (root / ".git").mkdir()
    (root / "lib/part_1/.git").write_text("gitdir: /nowhere\n")
    for number in range(500):
        (root / f"lib/part_2/{number}").touch()
    for number in range(500):
        (root / f"lib/part_2/{number}").unlink()
    os.utime(root / "lib/part_3", (1, 1))
    (root / "lib/part_3/deep").chmod(0o700)
    read = root / "lib/part_3/deep/file_3.py"
    os.utime(read, ns=(read.stat().st_atime_ns + 1, read.stat().st_mtime_ns))


def test_what_a_run_touched_is_new_and_everything_else_is_the_same_file(git: Git, tmp_path: Path) -> None:
    again, inodes = _again(git, tmp_path, _spoil)
    git.materialise(git.tree_of("HEAD"), tmp_path / "fresh")
    assert _contents(again) == _contents(tmp_path / "fresh")
    assert (again / "lib/part_1/deep/file_1.py").stat().st_ino == inodes["lib/part_1/deep/file_1.py"]
    assert (again / "lib/part_1/deep").stat().st_ino == inodes["lib/part_1/deep"]
    assert (again / "lib/part_3").stat().st_mtime > 1
    for name in ("lib/part_0/deep", "lib/part_1", "lib/part_2", "lib/part_3", "lib/part_3/deep"):
        assert (again / name).stat().st_size <= (tmp_path / "fresh" / name).stat().st_size


def _spoil_what_is_old(root: Path) -> None:
    """An edit, then everything is made to look old, then what a run leaves behind."""
    (root / "lib/part_1/deep/file_5.py").write_text("value = 6\n")
    (root / "lib/part_1/deep/file_9.py").unlink()
    (root / "lib/part_1/deep/link").symlink_to("file_1.py")
    (root / ".git/objects").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    age(root, _OLD)
    for name in ("lib/part_3/deep/file_3.py", "lib/part_1/deep/file_5.py", "lib/part_3", ".git/HEAD", ".git/objects"):
        assert (root / name).stat().st_mtime == _OLD
    kept = root / "lib/part_3/deep/file_3.py"
    kept.write_text("value = 9\n")
    os.utime(kept, (_OLD, _OLD))


def test_a_checkout_that_was_made_to_look_old_is_young_again(git: Git, tmp_path: Path) -> None:
    again, inodes = _again(git, tmp_path, _spoil_what_is_old)
    git.materialise(git.tree_of("HEAD"), tmp_path / "fresh")
    assert _contents(again) == _contents(tmp_path / "fresh")
    assert min(path.lstat().st_mtime for path in again.rglob("*")) > _OLD + 1000
    for name in ("lib/part_0/deep/file_0.py", "lib/part_1/deep/file_1.py", "lib/part_3/deep/file_7.py"):
        assert (again / name).stat().st_ino == inodes[name]


def test_a_checkout_becomes_another_tree(git: Git, tmp_path: Path) -> None:
    (git.top / "lib/part_1/deep/file_1.py").write_text("value = 100\n")
    (git.top / "lib/part_1/deep/file_5.py").unlink()
    (git.top / "lib/new.py").write_text("new = 1\n")
    tree = git.dirty_snapshot(tmp_path / "index")
    again, inodes = _again(git, tmp_path, _spoil, tree=tree)
    git.materialise(tree, tmp_path / "fresh")
    assert _contents(again) == _contents(tmp_path / "fresh")
    assert (again / "lib/part_1/deep/file_9.py").stat().st_ino == inodes["lib/part_1/deep/file_9.py"]


def test_new_attributes_have_every_file_written_anew(git: Git, tmp_path: Path) -> None:
    (git.top / ".gitattributes").write_text("*.py text eol=crlf\n")
    again, _ = _again(git, tmp_path, _spoil, tree=git.dirty_snapshot(tmp_path / "index"))
    assert (again / "lib/part_1/deep/file_1.py").read_bytes() == b"value = 1\r\n"


def test_a_small_checkout_is_not_kept_and_a_few_large_ones_are(git: Git, tmp_path: Path) -> None:
    tree, shelf = git.tree_of("HEAD"), Shelf(fewest=_FEW)
    assert Shelf().check_out(git, tree, tmp_path / "small") is None
    used = [shelf.check_out(git, tree, tmp_path / name) for name in ("a", "b", "c")]
    assert [one is not None and shelf.put_back(one) for one in used] == [True, True, False]
    shelf.clear()
    assert [(tmp_path / name).exists() for name in ("a", "b", "c")] == [False, False, True]


def _next_task(git: Git, tmp_path: Path, use: Callable[[Path], object]) -> tuple[Path, dict[str, int]]:
    """Two tasks, one after the other: where the second one's files are, and the inodes of the first one's."""
    left = tmp_path / "left"
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    shelf = Shelf(fewest=_FEW, left=left)
    used = shelf.check_out(git, git.tree_of("HEAD"), tmp_path / "first")
    assert used is not None
    inodes = {str(path.relative_to(tmp_path / "first/tree")): path.lstat().st_ino for path in used.folder.rglob("*.py")}
    _spoil(used.folder / "tree")
    assert shelf.put_back(used)
    shelf.clear()
    (kept,) = left.iterdir()
    use(kept)
    assert Shelf(fewest=_FEW, left=left).check_out(git, git.tree_of("HEAD"), tmp_path / "second") is not None
    assert not list(left.iterdir())
    return tmp_path / "second" / "tree", inodes


def test_the_next_task_uses_what_a_task_has_left(git: Git, tmp_path: Path) -> None:
    again, inodes = _next_task(git, tmp_path, lambda kept: (kept / "tree/lib/part_1/deep/file_5.py").write_text("bad"))
    git.materialise(git.tree_of("HEAD"), tmp_path / "fresh")
    assert _contents(again) == _contents(tmp_path / "fresh")
    assert (again / "lib/part_1/deep/file_1.py").stat().st_ino == inodes["lib/part_1/deep/file_1.py"]
    assert not (tmp_path / "second" / "earlier").exists()


@pytest.mark.parametrize("text", ["{}", "no JSON", '{"boot": "another start of the machine", "tree": "", "looks": {}}'])
def test_a_checkout_with_a_record_that_says_nothing_is_written_anew(git: Git, tmp_path: Path, text: str) -> None:
    again, _ = _next_task(git, tmp_path, lambda kept: (kept / "looks.json").write_text(text))
    git.materialise(git.tree_of("HEAD"), tmp_path / "fresh")
    assert _contents(again) == _contents(tmp_path / "fresh")
    assert not (tmp_path / "second" / "earlier").exists()


def test_two_checkouts_are_left_and_no_more(git: Git, tmp_path: Path) -> None:
    for task in range(3):
        shelf = Shelf(fewest=_FEW, left=tmp_path / "left")
        for number in range(2):
            folder = tmp_path / f"{task}-{number}"
            folder.mkdir()
            git.materialise(git.tree_of("HEAD"), folder / "tree")
            shelf.put_back(UsedCheckout(folder=folder, tree="", looks={}))
        shelf.clear()
    assert {path.name for path in (tmp_path / "left").iterdir()} == {"0-0", "0-1"}
    assert not list(tmp_path.glob("[12]-*"))


def test_a_secret_that_a_run_put_beside_a_moved_folder_is_seen(git: Git, tmp_path: Path) -> None:
    """What is known of the protected places of a checkout goes with its folders, and no further."""
    first, second = tmp_path / "first", tmp_path / "second"
    shelf, base = Shelf(fewest=_FEW), git.tree_of("HEAD")
    (git.top / "lib/part_1/deep/.env").write_text("KEY=1\n")
    tree = git.dirty_snapshot(tmp_path / "index")
    used = shelf.check_out(git, base, first)
    assert used is not None
    assert not protected_paths_of(first / "tree").look().masked
    assert shelf.put_back(used)
    assert shelf.check_out(git, tree, second) is not None
    assert set(protected_paths_of(second / "tree").look().masked) == {"lib/part_1/deep/.env"}
