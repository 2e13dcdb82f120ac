"""Making a repository from a folder: for the demonstration and for tests. Hooks, templates and signing of the user stay out."""

from __future__ import annotations

from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.workspace import process
from agentforge.workspace.gitcommand import fixed_environment

_TIMEOUT_S = 60.0


def init_repository(folder: Path, *, message: str) -> None:
    """Make `folder` a git repository with one commit of everything in it, on branch `main`.

    Raises:
        ToolchainError: git is missing or refuses.
    """
    for arguments in (
        ("init", "--quiet", "--template=", "--initial-branch=main", "."),
        ("add", "--all"),
        ("commit", "--quiet", "--no-gpg-sign", "-m", message),
    ):
        done = process.run(["git", *arguments], cwd=folder, env=fixed_environment(), timeout_s=_TIMEOUT_S)
        if done.exit_code != 0:
            raise ToolchainError(f"git {arguments[0]} failed in {folder}: {done.text.strip()[:300]}")
