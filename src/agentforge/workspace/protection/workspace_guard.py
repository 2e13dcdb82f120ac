"""A command of the model in the workspace: what it may write stays, everything else is put back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentforge.errors import RepositoryError, StorageError
from agentforge.workspace.git.queries import ignored_folders
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.protection.reconciliation import (
    Looks,
    MayWrite,
    Settled,
    Settlement,
    is_folder,
    permissions,
    scan,
)


class Guard:
    """Knows the workspace as it is before a command, and settles what the command left.

    Args:
        index: the private index of the workspace's snapshots; after `tree` it holds that tree.
        ignoring: folders that git ignores as a whole are not looked into, for `tree` alone: it does not hold them.
    """

    def __init__(self, git: Git, workspace: Path, *, index: Path, ignoring: bool = False) -> None:
        self._git = git
        self._root = workspace
        self._index = index
        self._ignoring = ignoring
        self._ignored: frozenset[str] = frozenset()
        self._looks: Looks = {}
        self._tree = ""

    def tree(self) -> str:
        """Give the tree of the workspace as it is now; git is asked only when a file was touched since the last time.

        Raises:
            RepositoryError: a file cannot be recorded.
        """
        looks = scan(self._root, without=self._ignored)
        if not self._tree or looks != self._looks:
            self._tree = self._git.snapshot(self._root, index=self._index)
            self._looks = self._learned(looks) if self._ignoring else looks
        return self._tree

    def _learned(self, looks: Looks) -> Looks:
        """The looks without what git ignores now; looked at before the snapshot, so that nothing touched since is missed."""
        before, self._ignored = self._ignored, ignored_folders(self._git)
        if not before <= self._ignored:  # something was not entered that counts now: the next look finds it touched
            return {}
        return {name: look for name, look in looks.items() if not _within(name, self._ignored)}

    def watch(self, command: Callable[[], Completed], *, may_write: MayWrite) -> tuple[Completed, Settled | None]:
        """Run a command, keep what it changed within the scope, and put back everything else.

        Args:
            may_write: None when a path may be written, else the reason why not.
        Returns:
            How it ended, and what became of the files; None when none was touched.
        Raises:
            StorageError: something cannot be put back; the call stays in doubt until `put_back`.
        """
        if not self._tree:
            self.tree()
        done = command()
        now = scan(self._root)
        return done, None if now == self._looks else self._settle(now, may_write)

    def put_back(self, tree: str) -> None:
        """Make the workspace equal a tree exactly, whatever a command that was cut short did to it."""
        self._tree = ""
        for name, look in scan(self._root).items():
            if is_folder(look):
                (self._root / name).chmod(permissions(look) | 0o700)
        self._git.reset_files(self._root, tree, index=self._index)

    def _settle(self, now: Looks, may_write: MayWrite) -> Settled:
        tree, self._tree = self._tree, ""
        try:
            settled = Settlement(self._git, self._root, self._index, before=self._looks, now=now).settle(may_write)
        except (OSError, RepositoryError) as exc:
            raise StorageError(
                f"{self._root} cannot be put back: {exc}", hint="resume restores the whole tree"
            ) from exc
        if not settled.kept:
            self._tree, self._looks = tree, scan(self._root)
        return settled


def _within(name: str, folders: frozenset[str]) -> bool:
    """Whether a path lies inside one of the folders; a folder is not inside itself."""
    at = name.rfind("/")
    while at > 0:
        if name[:at] in folders:
            return True
        at = name.rfind("/", 0, at)
    return False
