"""A real repository with a hostile name and hostile hooks, and what must not change in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.workspace.git.repository import Git

_ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}

HOOKS = ("post-checkout", "post-commit", "pre-commit", "post-merge", "reference-transaction", "post-index-change")


def git_call(folder: Path, *arguments: str) -> str:
    """Run git as a user would."""
    done = subprocess.run(["git", *arguments], cwd=folder, env=_ENV, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def as_user() -> Callable[..., str]:
    """git as the user runs it."""
    return git_call


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with nothing in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def repository(tmp_path: Path, home: Path) -> Path:
    """A repository whose path has spaces and non-ASCII letters."""
    folder = tmp_path / "my répo ü"
    folder.mkdir()
    git_call(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    (folder / "src dir").mkdir()
    (folder / "src dir" / "ñ.py").write_text("x = 1\n")
    (folder / ".gitignore").write_text("*.log\ntracked.log\nbuild/\n")
    (folder / "tracked.log").write_text("tracked although ignored\n")
    git_call(folder, "add", "-A", "-f")
    git_call(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def git(repository: Path) -> Git:
    """The repository, opened."""
    return Git.open(repository)


@pytest.fixture
def hooked(repository: Path, tmp_path: Path) -> Path:
    """The file that appears when any hook, monitor or filter of the repository runs."""
    proof = tmp_path / "a hook ran"
    for name in HOOKS:
        hook = repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> '{proof}'\n")
        hook.chmod(0o755)
    command = f"sh -c 'echo ran >> \"{proof}\"; cat'"
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.external", "core.sshCommand"):
        git_call(repository, "config", key, command)
    git_call(repository, "config", "filter.evil.required", "true")
    (repository / ".git" / "info" / "attributes").write_text("*.txt filter=evil diff=evil\n")
    return proof


@pytest.fixture
def untouched(repository: Path) -> Callable[[], dict[str, bytes]]:
    """The bytes of everything in the repository that belongs to the user."""

    def look() -> dict[str, bytes]:
        inside = repository / ".git"
        kept = {name: (inside / name).read_bytes() for name in ("HEAD", "index", "config")}
        for path in sorted((inside / "refs").rglob("*")):
            if path.is_file():
                kept[str(path.relative_to(inside))] = path.read_bytes()
        for path in sorted(repository.rglob("*")):
            if path.is_file() and inside not in path.parents:
                kept[str(path)] = path.read_bytes()
        return kept

    return look
