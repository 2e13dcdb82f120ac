"""The user's own folder while commands work in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentforge.workspace.git.repository import Git
from agentforge.workspace.protection import reconciliation, workspace_guard
from agentforge.workspace.protection.change_detector import Watch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "shop.py").write_text("PRICE = 1\n")
    (root / ".gitignore").write_text("node_modules\nbuild/\n")
    for name in ("node_modules/left/pad.js", "build/out.o"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("x")
    for argv in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *argv], cwd=root, check=True)
    return root


@pytest.fixture
def watched(folder: Path, tmp_path: Path) -> Watch:
    git = Git.open(folder)
    return Watch(lambda: git, index=tmp_path / "index")


def _names(git: Git, tree: str) -> list[str]:
    return git.list_files(tree)


def test_folders_that_git_ignores_are_not_looked_into_again(
    folder: Path, watched: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []

    scan = reconciliation.scan

    def counted(root: Path, *, without: frozenset[str] = frozenset(), followed: None = None) -> reconciliation.Looks:
        looks = scan(root, without=without, followed=followed)
        seen.append(set(looks))
        return looks

    monkeypatch.setattr(workspace_guard, "scan", counted)
    before = watched.tree()
    (folder / "node_modules/left/more.js").write_text("y")
    assert watched.tree() == before
    assert {"node_modules/left", "build/out.o"} <= seen[0]
    assert seen[1] == {"shop.py", ".gitignore", "node_modules", "build"}


def test_what_is_ignored_no_longer_is_recorded(folder: Path, watched: Watch) -> None:
    git = Git.open(folder)
    watched.tree()
    (folder / ".gitignore").write_text("build/\n")
    assert "node_modules/left/pad.js" in _names(git, watched.tree())
    (folder / "node_modules/left/pad.js").write_text("changed")
    changed = watched.tree()
    assert git.show(changed, "node_modules/left/pad.js") == b"changed"


def test_a_folder_ignored_from_now_on_leaves_the_tree_and_one_force_added_counts(folder: Path, watched: Watch) -> None:
    git = Git.open(folder)
    (folder / "dist").mkdir()
    (folder / "dist/kept.js").write_text("1")
    assert "dist/kept.js" in _names(git, watched.tree())
    subprocess.run(["git", "add", "dist/kept.js"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("node_modules\nbuild/\ndist/\n")
    assert "dist/kept.js" in _names(git, watched.tree()), "what is tracked is not ignored"
    (folder / "dist/kept.js").write_text("2")
    assert git.show(watched.tree(), "dist/kept.js") == b"2"
