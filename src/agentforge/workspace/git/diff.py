"""What differs between two trees: as a patch, and as a list of paths."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from agentforge.frozen import dataclass
from agentforge.workspace.git.command import GitCommand, refused

ChangeStatus = Literal["added", "modified", "deleted", "type-changed"]

_STATUS: dict[str, ChangeStatus] = {"A": "added", "M": "modified", "D": "deleted", "T": "type-changed"}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--ignore-submodules=dirty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One path that differs between two trees.

    Attributes:
        added, removed: lines; 0 for a binary file.
    """

    path: str
    status: ChangeStatus
    added: int
    removed: int
    binary: bool = False


def diff_trees(command: GitCommand, before: str, after: str, *, paths: Sequence[str], context: int) -> str:
    """Write the patch from one tree to the other; bytes that are not UTF-8 are kept as surrogates."""
    shape = ("-r", "-p", "--binary", f"-U{context}", "--src-prefix=a/", "--dst-prefix=b/")
    arguments = ("diff-tree", *shape, *_PLAIN, before, after, "--", *paths)
    return command.output(*arguments, extra={"GIT_LITERAL_PATHSPECS": "1"}).decode("utf-8", "surrogateescape")


def changed_paths(command: GitCommand, before: str, after: str) -> list[Change]:
    """List the paths that differ, sorted; a rename is a deletion and an addition."""
    arguments = ("diff-tree", "-r", "-z", "--raw", "--numstat", *_PLAIN, before, after)
    done = command.recall(*arguments, of=(before, after))
    if done.exit_code != 0:
        raise refused(arguments, done)
    fields = os.fsdecode(done.output).split("\0")
    status: dict[str, ChangeStatus] = {}
    counts: dict[str, tuple[str, str]] = {}
    at = 0
    while at < len(fields) and fields[at]:
        if fields[at].startswith(":"):
            status[fields[at + 1]] = _STATUS[fields[at].rsplit(" ", 1)[1][0]]
            at += 2
        else:
            added, removed, path = fields[at].split("\t", 2)
            counts[path] = (added, removed)
            at += 1
    return [_change(path, status[path], counts.get(path, ("0", "0"))) for path in sorted(status)]


def _change(path: str, status: ChangeStatus, counts: tuple[str, str]) -> Change:
    binary = counts[0] == "-"
    added, removed = (0, 0) if binary else (int(counts[0]), int(counts[1]))
    return Change(path=path, status=status, added=added, removed=removed, binary=binary)
