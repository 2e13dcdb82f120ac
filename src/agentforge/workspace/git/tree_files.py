"""The files of trees, each listed once: a stage asks for the same few lists again and again."""

from __future__ import annotations

import os
import re

from agentforge.workspace.git.command import GitCommand, is_object_id

_KEPT = 6
_FILE = re.compile(r"[0-7]+ blob [0-9a-f]+\t([^\0]+)\0")
"""One entry of the list, its path in a group; submodules are no blobs."""


class TreeFiles:
    """Lists the files of commits and trees of one repository, and keeps the last few lists of what cannot change."""

    def __init__(self, command: GitCommand) -> None:
        """Start with nothing."""
        self._command = command
        self._kept: dict[str, list[str]] = {}

    def of(self, rev: str) -> list[str]:
        """List the files of a commit or tree, sorted; submodules are not files.

        Raises:
            RepositoryError: there is no such revision.
        """
        found = self._kept.get(rev)
        if found is None:
            listed = os.fsdecode(self._command.output("ls-tree", "-r", "-z", "--full-tree", rev))
            found = sorted(_FILE.findall(listed))
            if is_object_id(rev):
                self._kept[rev] = found
        if len(self._kept) > _KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        return list(found)
