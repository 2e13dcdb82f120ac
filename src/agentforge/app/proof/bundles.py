"""Packing a run for somebody who has neither the repository nor this machine, and unpacking its git objects there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.composition.task_queries import load
from agentforge.errors import ConflictError, IntegrityError, RepositoryError
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.proof.anchors import NOTES_REF
from agentforge.proof.bundle import COMMIT, NOTE, PACK, write_bundle
from agentforge.proof.contents import LEASE, unpacked
from agentforge.proof.files import FolderFiles
from agentforge.store.log.lease import read_holder
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.workspace.git.objects import (
    commit_object,
    has_object,
    keep_blob,
    note_of,
    pack_objects,
    repository_of_pack,
    strangers_in_pack,
)
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    pass

BUNDLES_REF = "refs/agentforge/bundles"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A bundle that was made."""

    task: str
    data: bytes
    files: int


def bundle(cwd: Path, task_id: str) -> Packed:
    """Pack a task: its log, blobs and views, its commit and note, and the git objects of base and result.

    Raises:
        ConflictError: a process drives it.
        IntegrityError: its trail, or the pack of its blobs, is damaged.
    """
    found = load(cwd, task_id)
    if found.running:
        raise ConflictError(
            f"{found.state.identity.run_id} is being worked on by another process", hint="wait for its end"
        )
    if not read_holder(found.folder).released:  # its process died: the views lag behind
        RunLog.open(found.folder, clock=utc_now).close()
    files = FolderFiles(found.folder)
    run = {name: files[name] for name in files if name != LEASE}
    unpacked(run)  # a damaged pack is told here, not to whom the bundle is given
    git = _git_files(Git.open(cwd), found.state)
    data = write_bundle(task=found.state.identity.run_id, run=run, git=git)
    return Packed(task=found.state.identity.run_id, data=data, files=len(run) + len(git))


def keep_bundle(cwd: Path, packed: Packed) -> str:
    """Keep a bundle in the repository under a ref of our own, so that it can be pushed and fetched; returns the ref."""
    ref = f"{BUNDLES_REF}/{packed.task}"
    keep_blob(Git.open(cwd), ref, packed.data)
    return ref


@contextmanager
def unpacked_repository(pack: bytes, *, base: str) -> Iterator[Git]:
    """A repository with the objects of a bundle, its checkout on the base; gone afterwards.

    Raises:
        IntegrityError: the bundle has no objects, or damaged ones.
    """
    if not pack:
        raise IntegrityError("the bundle holds no git objects", hint="bundle the run where its repository is")
    with tempfile.TemporaryDirectory(prefix="agentforge-bundle-") as place:
        try:
            git = repository_of_pack(Path(place).resolve() / "repository", pack, commit=base)
        except RepositoryError as exc:
            raise IntegrityError(f"the git objects of the bundle are damaged: {exc.message}") from exc
        yield git


def pack_problems(pack: bytes, state: RunState) -> list[str]:
    """What is wrong with the git objects of a bundle: damaged, incomplete, or more than the run has."""
    made = str((state.work.delivered or {}).get("commit", ""))
    trees = [tree for name, tree in state.work.trees.items() if tree and name != "work"]
    with tempfile.TemporaryDirectory(prefix="agentforge-bundle-") as place:
        try:
            strangers = strangers_in_pack(
                Path(place).resolve() / "repository",
                pack,
                commits=[state.identity.base_commit, *([made] if made else [])],
                trees=trees,
            )
        except RepositoryError as exc:
            return [f"the git objects of the bundle are damaged: {exc.message}"]
    return [f"the git object {name} belongs to nothing that the run names" for name in strangers[:3]]


def _git_files(git: Git, state: RunState) -> Mapping[str, bytes]:
    """What git has of a run: the objects of every measured tree, and of a delivered run its commit and note."""
    made = str((state.work.delivered or {}).get("commit", ""))
    named = {tree for name, tree in state.work.trees.items() if tree and name != "work"}
    trees = {tree for tree in named if has_object(git, tree)}  # of an old run git may have taken some away
    roots = [state.identity.base_commit, *([made] if made else [])]
    files = {PACK: pack_objects(git, commits=roots, trees=sorted(trees))}
    raw = commit_object(git, made) if made else None
    note = note_of(git, made, NOTES_REF) if made else None
    if raw is not None and note is not None:
        files |= {COMMIT: raw, NOTE: note.encode()}
    return files
