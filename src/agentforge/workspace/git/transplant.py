"""The change between two trees, brought onto a third: file by file, three ways, in git objects alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from agentforge.frozen import dataclass
from agentforge.workspace.git.command import Checkout, fixed_environment
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import run

_TIMEOUT_S = 60.0
_LIMIT_BYTES = 256 * 1024 * 1024
_ABSENT = ("000000", "0" * 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A file that could not be changed; it stays as it was."""

    path: str
    reason: str


Entry = tuple[str, str]
"""Mode and object id of a file in a tree."""


def transplant(
    git: Git, *, before: str, after: str, onto: str, folder: Path, blocked: Sequence[str] = ()
) -> tuple[str, list[Conflict]]:
    """Bring what changed from `before` to `after` onto `onto`.

    Args:
        folder: for temporary files.
        blocked: paths that are left alone, because an earlier change of them failed.
    Returns:
        The tree that comes out, and the files that could not be changed.
    Side effects: blobs and a tree in the repository.
    """
    conflicts: list[Conflict] = []
    updates: list[str] = []
    there = _entries(git, onto)
    for path, old, new in _changes(git, before, after):
        here = there.get(path, _ABSENT)
        if path in blocked:
            conflicts.append(Conflict(path=path, reason="an earlier change of it was left out"))
            continue
        merged = _merged(git, old, new, here, folder=folder)
        if isinstance(merged, str):
            conflicts.append(Conflict(path=path, reason=merged))
        elif merged != here:
            updates.append(f"{merged[0]} {merged[1]}\t{path}")
    return _written(git, onto, updates, index=folder / "transplant.index"), conflicts


def _changes(git: Git, before: str, after: str) -> list[tuple[str, Entry, Entry]]:
    output = git.command.output("diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", before, after)
    fields = os.fsdecode(output).split("\0")
    found = []
    for head, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old, new, _status = head.removeprefix(":").split(" ")
        found.append((path, (old_mode, old), (new_mode, new)))
    return found


def _entries(git: Git, tree: str) -> dict[str, Entry]:
    listing = os.fsdecode(git.command.output("ls-tree", "-r", "-z", "--full-tree", tree))
    rows = (row.partition("\t") for row in listing.split("\0") if row)
    return {path: (head.split(" ")[0], head.split(" ")[2]) for head, _, path in rows}


def _merged(git: Git, old: Entry, new: Entry, here: Entry, *, folder: Path) -> Entry | str:
    """The entry that comes out, or why none does."""
    if here in (old, new):
        return new
    absent = _ABSENT[0]
    if here[0] == absent:
        return "it is not there" if old[0] != absent else "it cannot be written"
    if old[0] == absent:
        return "another file of this name is there already"
    if new[0] == absent:
        return "it was changed there and is deleted here"
    contents = [_content(git, entry[1]) for entry in (here, old, new)]
    if any(b"\0" in content for content in contents):
        return "both changed it, and it is not text"
    merged = _merged_text(contents, folder)
    if merged is None:
        return "both changed the same lines"
    mode = new[0] if new[0] != old[0] else here[0]
    oid = os.fsdecode(git.command.output("hash-object", "-w", "--stdin", "--no-filters", stdin=merged)).strip()
    return mode, oid


def _merged_text(contents: Sequence[bytes], folder: Path) -> bytes | None:
    files = [folder / name for name in ("here", "before", "after")]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    argv = ["git", "merge-file", "-p", "--quiet", *map(str, files)]
    done = run(
        argv, cwd=folder, env=fixed_environment(), timeout_s=_TIMEOUT_S, output_limit_bytes=_LIMIT_BYTES,
        merge_stderr=False,
    )  # fmt: skip
    return done.output if done.exit_code == 0 else None


def _content(git: Git, oid: str) -> bytes:
    return git.command.output("cat-file", "blob", oid)


def _written(git: Git, onto: str, updates: Sequence[str], *, index: Path) -> str:
    at = Checkout(git_dir=git.command.git_dir, work_tree=git.top, index=index)
    index.unlink(missing_ok=True)
    git.command.output("read-tree", onto, at=at)
    listed = b"".join(os.fsencode(update) + b"\0" for update in updates)
    git.command.output("update-index", "-z", "--index-info", at=at, stdin=listed)
    return git.command.line("write-tree", at=at)
