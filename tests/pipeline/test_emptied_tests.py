"""RED has no tool that removes a file: a test file that it leaves empty is taken away."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentforge.pipeline.facts.measurements import _take_away_emptied
from agentforge.workspace.git.repository import Git
from agentforge.workspace.protection.workspace_guard import Guard


@pytest.mark.parametrize(
    ("path", "before", "left", "gone"),
    [
        ("tests/test_old.py", "def test_a():\n    pass\n", "", True),
        ("tests/test_new.py", None, "", True),
        ("cmd/kit/main_test.go", None, "\n", True),
        ("tests/test_new.py", None, "def test_a():\n    pass\n", False),
        ("tests/__init__.py", None, "", False),
        ("tests/data/empty.txt", None, "", False),
        ("kit/new.py", None, "", False),
    ],
)
def test_what_is_left_empty(tmp_path: Path, path: str, before: str | None, left: str, gone: bool) -> None:
    repo = tmp_path / "repo"
    (repo / path).parent.mkdir(parents=True)
    (repo / "kit.py").write_text("a = 1\n")
    if before is not None:
        (repo / path).write_text(before)
    git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-C", str(repo)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *words], check=True)
    (repo / path).write_text(left)
    opened = Git.open(repo)
    state: Any = SimpleNamespace(work=SimpleNamespace(trees={"baseline": opened.tree_of("HEAD")}))
    guard = Guard(opened, repo, index=tmp_path / "index")
    runtime: Any = SimpleNamespace(git=opened, worktree=repo, scratch=tmp_path, guard=guard)
    assert _take_away_emptied(state, runtime) is gone
    assert (repo / path).exists() is not gone
