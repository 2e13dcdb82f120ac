"""A task's own worktree: made, rebuilt after a crash, put back to a recorded tree, and removed."""

from __future__ import annotations

import os
from pathlib import Path

from agentforge.canonical import digest_bytes
from agentforge.errors import ConflictError, RepositoryError
from agentforge.frozen import dataclass
from agentforge.workspace.files.file_access import remove_tree
from agentforge.workspace.git.repository import Git


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """Where a task works.

    Attributes:
        path: the files; mounted at the user's repository path inside the sandbox.
        index: the private index that snapshots use; beside the files, never inside.
    """

    git: Git
    path: Path
    index: Path

    def snapshot(self) -> str:
        """Write the files as a tree and return its id."""
        return self.git.snapshot(self.path, index=self.index)


_BRANCHES = "agentforge"


def branch_name(task_id: str) -> str:
    """The branch of a task: `agentforge/<task id>`."""
    return f"{_BRANCHES}/{task_id}"


def names_with_branches(git: Git) -> set[str]:
    """Names that no new task can have, because its branch would be in the way of one that stands there.

    Raises:
        ConflictError: a branch is called `agentforge`, so that none can stand below it: said before any model is paid.
    """
    listed = git.command.output("for-each-ref", "--format=%(refname:lstrip=2)", f"refs/heads/{_BRANCHES}")
    found = os.fsdecode(listed).split()
    if _BRANCHES in found:
        told = f"a branch is called {_BRANCHES!r}, so git cannot make the branch of a task, {branch_name('TASK')}"
        raise ConflictError(told, hint=f"rename it: git branch -m {_BRANCHES} ANOTHER-NAME")
    return {name.split("/")[1] for name in found}


def worktree_of(git: Git, *, data_dir: Path, task_id: str) -> Worktree:
    """Name the worktree of a task, whether it exists or not."""
    folder = data_dir.resolve() / "worktrees" / digest_bytes(os.fsencode(git.top))[:16]
    return Worktree(git=git, path=folder / task_id, index=folder / f"{task_id}.index")


def create(git: Git, *, data_dir: Path, task_id: str, commit: str) -> Worktree:
    """Make the worktree of a task with the files of a commit; left-overs of an earlier one are removed."""
    worktree = worktree_of(git, data_dir=data_dir, task_id=task_id)
    remove(worktree)
    git.add_worktree(worktree.path, commit)
    return worktree


def take_over(old: Worktree, path: Path, commit: str) -> None:
    """Make a worktree with the files of a commit out of another one, which is gone then.

    Git writes only what its index does not know to be the same; what no commit holds is removed.

    Raises:
        OSError, RepositoryError: something cannot be moved or written; `path` may hold a part.
    """
    git, record = old.git, old.git.git_dir_of(old.path)
    git.add_worktree(path, commit, empty=True)
    git_dir = git.git_dir_of(path)
    path.joinpath(".git").unlink()
    path.rmdir()
    old.path.rename(path)
    remove_tree(record)
    old.index.rename(git_dir / "index")
    restore(Worktree(git=git, path=path, index=git_dir / "index"), commit)


def repair(worktree: Worktree, *, commit: str, tree: str) -> None:
    """Make the worktree stand again with exactly the files of a tree, whatever became of it.

    Args:
        commit: what a worktree that must be made anew is based on.
    """
    try:
        whole = worktree.path.is_dir() and bool(worktree.git.git_dir_of(worktree.path))
    except RepositoryError:
        whole = False
    if not whole:
        remove(worktree)
        worktree.git.add_worktree(worktree.path, commit)
    restore(worktree, tree)


def restore(worktree: Worktree, tree: str) -> None:
    """Make the files equal a tree exactly: what is untracked or ignored goes, what is missing comes back."""
    marker = worktree.path / ".git"
    expected = b"gitdir: " + os.fsencode(worktree.git.git_dir_of(worktree.path)) + b"\n"
    if marker.is_symlink() or not marker.is_file() or marker.read_bytes() != expected:
        remove_tree(marker)
        marker.write_bytes(expected)
    worktree.git.reset_files(worktree.path, tree, index=worktree.index)


def remove(worktree: Worktree) -> None:
    """Remove the files, git's record of them and the private index; what is already gone is no error."""
    worktree.git.remove_worktree(worktree.path)
    for leftover in (worktree.index, worktree.index.with_name(f"{worktree.index.name}.lock")):
        leftover.unlink(missing_ok=True)
