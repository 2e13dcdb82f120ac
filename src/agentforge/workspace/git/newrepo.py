"""Making a repository from a folder: for the demonstration and for tests. Hooks, templates and signing of the user stay out.

A repository of its own that borrows the objects of another: what is written there never reaches the user's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.workspace.git.command import fixed_environment
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes import process
from agentforge.workspace.processes.process import run

_TIMEOUT_S = 60.0


def init_repository(folder: Path, *, message: str, ignored: bool = False) -> None:
    """Make `folder` a git repository with one commit of everything in it, on branch `main`.

    Args:
        ignored: commit what its `.gitignore` names, too; another repository may track such files.
    Raises:
        ToolchainError: git is missing or refuses.
    """
    _git(folder, "init", "--quiet", "--template=", "--initial-branch=main", ".")
    commit_everything(folder, message=message, ignored=ignored)


def commit_everything(folder: Path, *, message: str, ignored: bool = False) -> None:
    """Commit all files of a repository as they stand.

    Raises:
        ToolchainError: git is missing or refuses.
    """
    _git(folder, "add", "--all", *(("--force",) if ignored else ()))
    _git(folder, "commit", "--quiet", "--no-gpg-sign", "-m", message)


def _git(folder: Path, *arguments: str) -> None:
    done = process.run(["git", *arguments], cwd=folder, env=fixed_environment(), timeout_s=_TIMEOUT_S)
    if done.exit_code != 0:
        raise ToolchainError(f"git {arguments[0]} failed in {folder}: {done.text.strip()[:300]}")


_SETTINGS = ("config", "info/exclude", "info/attributes")


@contextmanager
def shadow(git: Git, commit: str) -> Iterator[Git]:
    """Make a checkout of a commit in a temporary folder, with the repository's own settings; it goes at the end.

    Raises:
        RepositoryError: the repository does not hold the commit.
    """
    with tempfile.TemporaryDirectory(prefix="agentforge-replay-") as folder:
        top = Path(folder).resolve() / git.top.name
        run(["git", "init", "--quiet", str(top)], cwd=Path(folder), env=fixed_environment(), timeout_s=_TIMEOUT_S)
        _borrow(git, top / ".git")
        run(["git", "update-ref", "HEAD", git.resolve(commit)], cwd=top, env=fixed_environment(), timeout_s=_TIMEOUT_S)
        made = Git(top)
        made.reset_files(top, made.tree_of(commit), index=shadow_index(made))
        yield made


def shadow_index(git: Git) -> Path:
    """The private index of a shadow's checkout; beside the files, never inside."""
    return git.top.with_name(f"{git.top.name}.index")


def _borrow(git: Git, folder: Path) -> None:
    objects = git.common_dir / "objects"
    alternates = folder / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_bytes(_quoted(os.fsencode(objects)) + b"\n")
    for name in _SETTINGS:
        source = git.common_dir / name
        if source.is_file():
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(source, folder / name)
    for words in (("core.bare", "false"), ("--unset-all", "core.worktree")):  # what is true of the other checkout only
        argv = ["git", "config", "--file", str(folder / "config"), *words]
        run(argv, cwd=folder, env=fixed_environment(), timeout_s=_TIMEOUT_S)


def _quoted(path: bytes) -> bytes:
    """A path as git reads it from a file of lines: one that holds a line break stands in quotes."""
    if b"\n" not in path:
        return path
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
