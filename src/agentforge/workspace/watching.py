"""A command in the user's own folder: what it changed is told, nothing is put back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.workspace.guard import Guard

if TYPE_CHECKING:
    from agentforge.workspace.git import Git
    from agentforge.workspace.gitdiff import Change
    from agentforge.workspace.process import Completed
    from agentforge.workspace.settling import MayWrite, Settled


class Watch(Guard):
    """Knows the folder as it was before a command. The folder is the user's: whatever a command left there stays."""

    def __init__(self, git: Git, *, index: Path) -> None:
        super().__init__(git, git.top, index=index)
        self._repository = git

    def watch(self, command: Callable[[], Completed], *, may_write: MayWrite) -> tuple[Completed, Settled | None]:
        """Run a command and say which files it changed; ignored files do not count."""
        del may_write
        before = self.tree()
        done = command()
        after = self.tree()
        if after == before:
            return done, None
        from agentforge.workspace.settling import Settled

        return done, Settled(kept=tuple(map(_touched, self._repository.changed(before, after))), refused=())

    def put_back(self, tree: str) -> None:
        """Leave the folder alone; a conversation is brought back by a checkpoint, when the user says so."""
        del tree


def _touched(change: Change):  # type: ignore[no-untyped-def] # settling is imported where a command changed something
    from agentforge.workspace.settling import Touched

    return Touched(
        path=change.path,
        what={"added": "new", "deleted": "deleted"}.get(change.status, "changed"),  # type: ignore[arg-type]
        lines=None if change.binary else (change.added, change.removed),
    )
