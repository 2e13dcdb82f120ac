"""Making a repository from a folder: for the demonstration and for tests. Hooks, templates and signing of the user stay out."""

from __future__ import annotations

from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.workspace.git.command import fixed_environment
from agentforge.workspace.processes import process

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
