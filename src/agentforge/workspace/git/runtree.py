"""A run as git objects: a commit on the run's ref whose tree is its log and blobs, and whose parents are its snapshots."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from agentforge.errors import IntegrityError
from agentforge.workspace.git.command import Checkout
from agentforge.workspace.git.repository import AGENTFORGE, Git
from agentforge.workspace.git.snapshots import snapshot_ref
from agentforge.workspace.git.tree_snapshot import unlock

LOG = "events.jsonl"
_GROWS = frozenset({LOG})
_FOLDERS = ("blobs", "quarantine")
_TRAVELS = re.compile(r"events\.jsonl|blobs/[0-9a-f]{2}/[0-9a-f]{62}(\.z)?|quarantine/record-\d+-fence-\d+", re.ASCII)
_LARGEST_BYTES = 1 << 30


def commit_run(git: Git, run_id: str, folder: Path, *, base: str, delivered: str, when: str, index: Path) -> str:
    """Put the run as it stands on its ref; what is there already is not written again.

    Args:
        folder: of the run; its views and its lease do not travel, they are made anew.
        base: commit that the run started from, the parent of the first commit.
        delivered: commit that was delivered, "" = none; it travels along.
        when: ISO 8601.
        index: a private index file, kept between calls so that only new blobs are read.
    Returns:
        The commit that the ref points at afterwards.
    Side effects: objects, and the run's ref, in the user's repository; no branch moves.
    """
    tree = _write_tree(git, folder, index)
    ref = snapshot_ref(run_id)
    found = git.command.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    last = found.text.strip() if found.exit_code == 0 else ""
    if last and git.tree_of(last) == tree:
        return last
    parents = [last or base, *([delivered] if delivered and delivered != last else [])]
    commit = git.commit_tree(tree, parents=parents, message=f"Run {run_id}\n", author=AGENTFORGE, when=when)
    git.update_ref(ref, commit)
    return commit


def unpack_run(git: Git, commit: str, folder: Path) -> None:
    """Write the files of a run that a commit holds into a folder.

    Raises:
        IntegrityError: the commit holds no run, or something that belongs to none.
    """
    for name, oid in _entries(git, commit):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(git.command.output("cat-file", "blob", oid))
    if not (folder / LOG).is_file():
        raise IntegrityError(f"commit {commit[:12]} holds no run", hint="was it pushed by another program?")


def _entries(git: Git, commit: str) -> Iterator[tuple[str, str]]:
    """Path and object of every file; anything but plain files at the places of a run is refused."""
    total = 0
    listing = os.fsdecode(git.command.output("ls-tree", "-r", "-l", "-z", "--full-tree", commit))
    for entry in filter(None, listing.split("\0")):
        head, _, name = entry.partition("\t")
        mode, kind, oid, size = head.split()
        total += int(size) if size.isdigit() else 0
        if (mode, kind) != ("100644", "blob") or not _TRAVELS.fullmatch(name) or total > _LARGEST_BYTES:
            raise IntegrityError(
                f"commit {commit[:12]} holds {name[:100]!r}, which is not a part of a run", hint="do not trust it"
            )
        yield name, oid


def _write_tree(git: Git, folder: Path, index: Path) -> str:
    at = Checkout(git_dir=git.command.git_dir, work_tree=folder, index=index)
    index.parent.mkdir(parents=True, exist_ok=True)
    unlock(index)
    held = set(os.fsdecode(git.command.output("ls-files", "-z", at=at)).split("\0")) if index.exists() else set()
    names = [name for name in _names(folder) if name not in held - _GROWS]
    listed = "".join(f"{name}\n" for name in names).encode()
    oids = git.command.output("hash-object", "-w", "--no-filters", "--stdin-paths", at=at, stdin=listed).split()
    rows = "".join(f"100644 {oid.decode()}\t{name}\0" for name, oid in zip(names, oids, strict=True))
    git.command.output("update-index", "--add", "-z", "--index-info", at=at, stdin=rows.encode())
    return git.command.line("write-tree", at=at)


def _names(folder: Path) -> list[str]:
    """What travels of a run's folder; a temporary file of a write that never ended does not."""
    found = [LOG]
    for part in _FOLDERS:
        found += sorted(path.relative_to(folder).as_posix() for path in (folder / part).rglob("*") if path.is_file())
    return [name for name in found if _TRAVELS.fullmatch(name)]
