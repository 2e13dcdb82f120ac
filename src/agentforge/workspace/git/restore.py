"""Bringing files back to a tree that was recorded: only what differs is touched, ignored files never."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from agentforge.errors import StorageError
from agentforge.frozen import dataclass
from agentforge.workspace.git.command import Checkout
from agentforge.workspace.git.repository import Git


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """What a restore changes.

    Attributes:
        written: files that get an older content, or exist again.
        removed: files that the session made and that did not exist then.
        kept: files that did not exist then, but that the session did not make: they stay.
    """

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether no file changes."""
        return not self.written and not self.removed


def plan_restore(git: Git, *, now: str, wanted: str, own: Collection[str]) -> Restoration:
    """Say what changes when the files that look like tree `now` are made to look like tree `wanted`.

    Args:
        own: paths that the session wrote; a file that appeared since and is none of them is somebody else's and stays.
    """
    changes = git.changed(now, wanted)
    gone = [change.path for change in changes if change.status == "deleted"]
    return Restoration(
        written=tuple(change.path for change in changes if change.status != "deleted"),
        removed=tuple(path for path in gone if path in own),
        kept=tuple(path for path in gone if path not in own),
    )


def restore_files(git: Git, plan: Restoration, *, wanted: str, index: Path) -> None:
    """Carry the plan out.

    Args:
        index: a private index file, made anew and removed.
    Raises:
        StorageError: a file cannot be removed, or its folder became a link that leads elsewhere.
    Side effects: files of the folder; HEAD, branches and the user's index stay as they are.
    """
    top = git.top
    at = Checkout(git_dir=git.git_dir_of(top), work_tree=top, index=index)
    index.parent.mkdir(parents=True, exist_ok=True)
    index.unlink(missing_ok=True)
    try:
        for path in plan.removed:
            _remove(top, path)
        git.command.output("read-tree", wanted, at=at)
        if plan.written:
            given = b"".join(os.fsencode(path) + b"\0" for path in plan.written)
            git.command.output("checkout-index", "-f", "-z", "--stdin", at=at, stdin=given)
    finally:
        index.unlink(missing_ok=True)


def _remove(top: Path, path: str) -> None:
    file = top / path
    if not file.parent.resolve().is_relative_to(top.resolve()):
        raise StorageError(f"{path} cannot be removed: its folder is a link that leads out of {top}")
    try:
        file.unlink(missing_ok=True)
        for folder in file.parents:
            if folder == top or any(folder.iterdir()):
                break
            folder.rmdir()
    except OSError as exc:
        raise StorageError(f"{path} cannot be removed: {exc.strerror}", hint="check its permissions") from exc
