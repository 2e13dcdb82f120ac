"""The user's own folder while commands work in it: what they changed is told, nothing is put back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.workspace.git.diff import Change
from agentforge.workspace.git.private_repository import PrivateGit
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.protection.reconciliation import Settled, Touched
from agentforge.workspace.protection.workspace_guard import Guard

if TYPE_CHECKING:
    pass

    pass


class Watch:
    """Knows the folder as it was before a command. The folder is the user's: whatever a command left there stays.

    Args:
        git: where trees are kept, asked for when the first is taken; None = the folder has too many files.
        index: the private index of the snapshots.
    """

    def __init__(self, git: Callable[[], Git | None], *, index: Path) -> None:
        self._git = git
        self._index = index
        self._guard: Guard | None = None
        self._first = ""

    def tree(self) -> str:
        """Give the tree of the folder as it is now; "" where none can be taken.

        Raises:
            RepositoryError: a file cannot be recorded.
        """
        git = self._git()
        if git is None:
            return ""
        if self._guard is None:
            self._guard = Guard(git, git.top, index=self._index, ignoring=True)
        tree = self._guard.tree()
        self._first = self._first or tree
        return tree

    def watch(self, command: Callable[[], Completed]) -> tuple[Completed, Settled | None]:
        """Run a command and say which files it changed; ignored files do not count."""
        before = self.tree()
        done = command()
        after, git = self.tree(), self._git()
        if git is None or after == before:
            return done, None

        return done, Settled(kept=tuple(map(_touched, git.changed(before, after))), refused=())

    def diff(self, path: str, *, since: str) -> str:
        """The patch from a commit or tree to the folder as it is now.

        Args:
            path: "" = everything.
            since: "" = the last commit; in a folder without a repository, the first change of this process.
        """
        git = self._git()
        if git is None:
            return ""
        if isinstance(git, PrivateGit):
            since = since or self._first or self.tree()
        return git.diff(git.tree_of(since or "HEAD"), self.tree(), paths=[path] if path else ())

    def put_back(self, tree: str) -> None:
        """Leave the folder alone; a conversation is brought back by a checkpoint, when the user says so."""
        del tree


def _touched(change: Change) -> Touched:
    return Touched(
        path=change.path,
        what="new" if change.status == "added" else "deleted" if change.status == "deleted" else "changed",
        lines=None if change.binary else (change.added, change.removed),
    )
