"""Where snapshots of a folder are kept: its own repository, else a private one beside it, never inside."""

from __future__ import annotations

import os
from pathlib import Path

from agentforge.canonical import digest_bytes
from agentforge.errors import RepositoryError, ToolchainError
from agentforge.workspace.git.command import GitCommand, fixed_environment
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import run

MOST_FILES = 20_000
MOST_BYTES = 1 << 30
_TIMEOUT_S = 60.0


def snapshot_repository(folder: Path, *, data: Path) -> Git | None:
    """The repository that keeps a folder's snapshots.

    Args:
        data: AgentForge's data folder; a folder that is not the top of a repository gets a private one there.
    Returns:
        None where snapshots would cost too much (a home, a folder with very many files) or git is missing.
    Side effects: makes the private repository.
    """
    folder = folder.resolve()
    try:
        own = _own(folder)
    except ToolchainError:
        return None
    if own is not None:
        return own
    place = data / "snapshots" / digest_bytes(os.fsencode(folder))[:16]
    if not (place / "HEAD").exists() and not _small(folder):
        return None
    return private_repository(folder, place)


def private_repository(folder: Path, place: Path) -> Git:
    """Open the private repository of a folder, made where it is missing.

    Raises:
        ToolchainError: git is missing or refuses.
    Side effects: a git directory at `place`; nothing in `folder` changes.
    """
    if not (place / "HEAD").exists():
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _git(folder, "init", "--quiet", "--bare", "--template=", str(place))
    at = f"--git-dir={place}"
    if run(
        ["git", at, "rev-parse", "-q", "--verify", "HEAD"], cwd=folder, env=fixed_environment(), timeout_s=_TIMEOUT_S
    ).exit_code:
        tree = _git(folder, at, "hash-object", "-w", "-t", "tree", "/dev/null")
        _git(folder, at, "update-ref", "HEAD", _git(folder, at, "commit-tree", tree, "-m", "Nothing yet"))
    return PrivateGit(place, top=folder)


class PrivateGit(Git):
    """A git directory that lies elsewhere than the folder whose files it keeps."""

    def __init__(self, git_dir: Path, *, top: Path) -> None:
        self._command = GitCommand(top=top, git_dir=git_dir, common_dir=git_dir)
        self.top = top
        self.found_at, self.found_on = self.head(), None


def _own(folder: Path) -> Git | None:
    """The repository whose top the folder is."""
    try:
        git = Git.open(folder)
    except RepositoryError:  # there is none, or it has no commit
        return None
    return git if git.top == folder else None


def _small(folder: Path) -> bool:
    """Whether a folder can be read whole in a moment."""
    if folder in (Path.home().resolve(), Path(folder.anchor)):
        return False
    files = size = 0
    for top, names, found in os.walk(folder):
        names[:] = [name for name in names if name != ".git"]
        files += len(found)
        size += sum(_size(Path(top) / name) for name in found)
        if files > MOST_FILES or size > MOST_BYTES:
            return False
    return True


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:  # it has gone meanwhile
        return 0


def _git(folder: Path, *arguments: str) -> str:
    done = run(["git", *arguments], cwd=folder, env=fixed_environment(), timeout_s=_TIMEOUT_S)
    if done.exit_code != 0:
        raise ToolchainError(f"git {' '.join(arguments[:2])} failed: {done.text.strip()[:300]}")
    return done.text.strip()
