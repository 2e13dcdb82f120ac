"""The files of trees, each listed once: a stage asks for the same few lists again and again."""

from __future__ import annotations

import os

from agentforge.workspace.git.command import GitCommand, is_object_id

_KEPT = 6


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
            listed = os.fsdecode(self._command.output("ls-tree", "-r", "-z", "--full-tree", rev)).split("\0")
            entries = (entry.partition("\t") for entry in listed if entry)
            found = sorted(path for head, _, path in entries if " blob " in head)
            if is_object_id(rev):
                self._kept[rev] = found
        if len(self._kept) > _KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        return list(found)
