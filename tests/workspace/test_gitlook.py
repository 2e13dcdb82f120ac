"""The top of a commit and its README, in one call."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentforge.errors import RepositoryError
from agentforge.workspace.git.queries import top_level
from agentforge.workspace.git.repository import Git


@pytest.fixture
def git(tmp_path: Path) -> Git:
    for name, data in {"b/x": b"x", "a b": b"1\n", "\u00fc.txt": b"", "README": b"# R\0\xff\nmissing\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for call in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "x")):
        subprocess.run(["git", *identity, *call], cwd=tmp_path, check=True)
    (tmp_path / "untracked").write_text("u")
    return Git(tmp_path)


def test_the_top_of_a_commit_and_the_first_text_that_is_there(git: Git) -> None:
    found = top_level(git, git.head(), texts=("README.md", "b", "README", "a b"))
    assert found == (["README", "a b", "b/", "\u00fc.txt"], b"# R\0\xff\nmissing\n")


def test_no_text_is_no_error_and_no_commit_is_one(git: Git) -> None:
    assert top_level(git, git.head(), texts=("LIESMICH",))[1] == b""
    with pytest.raises(RepositoryError):
        top_level(git, "0" * 40, texts=())
