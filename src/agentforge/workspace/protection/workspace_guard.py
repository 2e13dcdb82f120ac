"""A command of the model in the workspace: what it may write stays, everything else is put back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentforge.errors import RepositoryError, StorageError
from agentforge.workspace.files.file_access import write_bytes
from agentforge.workspace.git.command import Checkout
from agentforge.workspace.git.queries import ignored_folders
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.tree_snapshot import FEWEST_FILES, is_large, write_snapshot
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.protection.reconciliation import (
    Looks,
    MayWrite,
    Settled,
    Settlement,
    is_folder,
    look_at,
    permissions,
    scan,
)
from agentforge.workspace.protection.touched_names import TouchedNames


class Guard:
    """Knows the workspace as it is before a command, and settles what the command left.

    Args:
        index: the private index of the workspace's snapshots; after `tree` it holds that tree.
        ignoring: folders that git ignores as a whole are not looked into, for `tree` alone: it does not hold them. Processes may
            go on working in the workspace.
        fewest: files from which on the kernel is asked what was touched.
    """

    def __init__(
        self, git: Git, workspace: Path, *, index: Path, ignoring: bool = False, fewest: int = FEWEST_FILES
    ) -> None:
        self._git = git
        self._root = workspace
        self._index = index
        self._ignoring = ignoring
        self._ignored: frozenset[str] = frozenset()
        self._looks: Looks = {}
        self._tree = ""
        self._fewest = fewest
        self._told = TouchedNames(workspace)
        self._last: Looks = {}
        self._since: set[str] | None = None
        self._is_settled = True

    def tree(self) -> str:
        """Give the tree of the workspace as it is now; git is asked only when a file was touched since the last time.

        Raises:
            RepositoryError: a file cannot be recorded.
        """
        looks = self._look()
        if not self._tree or looks != self._looks:
            known = (self._tree, frozenset(self._since)) if self._tree and self._since is not None else None
            at = Checkout(git_dir=self._git.git_dir_of(self._root), work_tree=self._root)
            self._tree = write_snapshot(self._git.command, at, index=self._index, known=known, fewest=self._fewest)
            self._looks = self._learned(looks) if self._ignoring else looks
        self._since, self._is_settled = set(), True
        return self._tree

    def known(self) -> str:
        """The tree of a large workspace, where the kernel tells what was touched; "" where all of it had to be looked at."""
        return self.tree() if self._tree and self._told.is_sure else ""

    def stands(self, tree: str) -> None:
        """Take note that the workspace was made equal to a tree at this moment, and its own index with it.

        Side effects: the private index is written.
        """
        own = self._git.git_dir_of(self._root) / "index"
        write_bytes(self._index, own.read_bytes())
        self._looks, self._tree, self._since = self._look(), tree, set()

    def _look(self) -> Looks:
        """How everything looks now; of a large workspace the kernel tells which files have to be looked at."""
        names = self._told.taken() if self._last else None
        if names is None:
            follows = not self._ignoring and is_large(self._index, fewest=self._fewest) and self._told.begin()
            self._last = scan(self._root, without=self._ignored, followed=self._told if follows else None)
            self._since = None
            return self._last
        if names:
            found = {name: look_at(f"{self._root}/{name}") for name in names}
            kept = {**self._last, **{name: look for name, look in found.items() if look is not None}}
            for name in (name for name, look in found.items() if look is None):
                kept.pop(name, None)
            self._last = kept
            if self._since is not None:
                self._since |= names
        return self._last

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
        if not self._tree or not self._is_settled:
            self.tree()
        done = command()
        now = self._look()
        return done, None if now == self._looks else self._settle(now, may_write)

    def put_back(self, tree: str) -> None:
        """Make the workspace equal a tree exactly, whatever a command that was cut short did to it."""
        self._tree, self._last = "", {}
        for name, look in scan(self._root).items():
            if is_folder(look):
                (self._root / name).chmod(permissions(look) | 0o700)
        self._git.reset_files(self._root, tree, index=self._index)

    def _settle(self, now: Looks, may_write: MayWrite) -> Settled:
        tree, self._tree = self._tree, ""
        try:
            settlement = Settlement(self._git, self._root, self._index, before=self._looks, now=now, again=self._look)
            settled = settlement.settle(may_write)
        except (OSError, RepositoryError) as exc:
            raise StorageError(
                f"{self._root} cannot be put back: {exc}", hint="resume restores the whole tree"
            ) from exc
        if not settled.kept:
            self._looks = self._look()
        if not settled.kept or self._since is not None:
            self._tree, self._is_settled = tree, not settled.kept
        return settled


def _within(name: str, folders: frozenset[str]) -> bool:
    """Whether a path lies inside one of the folders; a folder is not inside itself."""
    at = name.rfind("/")
    while at > 0:
        if name[:at] in folders:
            return True
        at = name.rfind("/", 0, at)
    return False
