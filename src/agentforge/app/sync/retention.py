"""Making room: worktrees of tasks that are over, and delivered runs that are old. What is not delivered is never removed.

At the remote: refs of runs that are over, that are old, and that this machine has whole.

The blobs of a run that is over are packed into one file, which loses nothing.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentforge.app.composition.run_inputs import CHECKOUTS, scratch_of
from agentforge.app.tasks.log_heads import drop_head
from agentforge.config.paths import data_dir
from agentforge.errors import AgentForgeError, LockedError, StorageError, ToolchainError
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.delivery.attestation import TREES_REF
from agentforge.store.blobs import Blobs
from agentforge.store.log.lease import Lease
from agentforge.store.log.reader import LOG, load_state
from agentforge.store.log.records import utc_now
from agentforge.store.tasks.folders import TaskRow, list_tasks, tasks_folder
from agentforge.workspace.files.file_access import remove_tree
from agentforge.workspace.git.objects import commit_object, drop_ref, waiting_ref
from agentforge.workspace.git.remotes import delete_ref, remote_commits, require_remote
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.snapshots import kept_runs, snapshot_ref
from agentforge.workspace.git.worktree import worktree_of

if TYPE_CHECKING:
    pass


_DAY_S = 86_400.0
_BLOCK_BYTES = 512
OLD_S = 30 * 86_400.0
"""What counts as old where nothing else is said: 30 days."""
_REFS = "refs/agentforge/runs/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """Something that was (or would be) removed.

    Attributes:
        kind: `blobs` = files that became one, and nothing of them is lost.
        reason: why it may go.
    """

    kind: Literal["worktree", "blobs", "run", "results", "snapshots", "checkouts", "remote"]
    name: str
    path: Path
    size_bytes: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What `gc` did, and which tasks it left alone with the reason."""

    removed: tuple[Removal, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: Collected) -> Collected:
        """Both together."""
        return Collected(removed=self.removed + other.removed, kept=self.kept + other.kept)

    @property
    def size_bytes(self) -> int:
        """Bytes in all."""
        return sum(item.size_bytes for item in self.removed)


def collect(
    cwd: Path, *, environ: Mapping[str, str], older_than_s: float | None = None, dry_run: bool = False
) -> Collected:
    """Remove what is not needed any more in the repository around `cwd`.

    Args:
        older_than_s: also remove delivered runs whose last record is older, cached test results that old, and snapshots that
            old of runs whose folder somebody removed; None = none of them.
        dry_run: only tell.
    Side effects: folders of the data directory and of `.agentforge/tasks` go; branches, notes and bundles stay.
    """
    git = Git.open(cwd)
    removed: list[Removal] = []
    kept: list[tuple[str, str]] = []
    for row in list_tasks(git.top):
        found = _of_task(row, git, environ=environ, older_than_s=older_than_s, dry_run=dry_run)
        if isinstance(found, str):
            kept.append((row.task_id, found))
        else:
            removed += found
    removed += _checkouts(git, environ, dry_run=dry_run)
    if older_than_s is not None:
        removed += _snapshots(git, older_than_s=max(older_than_s, _DAY_S), dry_run=dry_run)
        removed += _results(git, environ, older_than_s=older_than_s, dry_run=dry_run)
    return Collected(removed=tuple(removed), kept=tuple(kept))


def _of_task(
    row: TaskRow, git: Git, *, environ: Mapping[str, str], older_than_s: float | None, dry_run: bool
) -> list[Removal] | str:
    """What goes of one task, or why all of it stays."""
    if row.outcome == "damaged":
        return f"damaged: {row.error}"
    if row.outcome not in ("delivered", "analyzed", "aborted", "failed"):
        return f"not finished: {row.outcome}"
    try:
        lease = Lease.take(row.folder, since=utc_now())
    except (LockedError, StorageError) as exc:
        return exc.message
    try:
        state = load_state(row.folder)
        problem = _undelivered(state, git)
        if problem:
            return problem
        removed = [*_worktree(state, git, dry_run=dry_run), *_blobs(row, dry_run=dry_run)]
    except AgentForgeError as exc:
        return exc.message
    finally:
        lease.release()
    # A day at least: the name of a run is free again when it is gone, and its branch still has it.
    if older_than_s is not None and state.progress.outcome == "delivered" and age_s(state) > max(older_than_s, _DAY_S):
        removed.append(_run(row, state, git, environ=environ, dry_run=dry_run))
    return removed


def _undelivered(state: RunState, git: Git) -> str:
    """Why a run that says it was delivered is not: its commit is gone. "" when nothing is lost."""
    if state.progress.outcome != "delivered":
        return ""
    commit = str((state.work.delivered or {}).get("commit", ""))
    return "" if commit and commit_object(git, commit) is not None else "its commit is not in the repository"


def _worktree(state: RunState, git: Git, *, dry_run: bool) -> Iterator[Removal]:
    place = Path(state.identity.worktree)
    scratch = scratch_of(place)
    if not state.identity.worktree or not (place.exists() or scratch.exists()):
        return
    size = _size(place) + _size(scratch)
    if not dry_run:
        git.remove_worktree(place)
        shutil.rmtree(scratch, ignore_errors=True)
    yield Removal(
        kind="worktree",
        name=state.identity.run_id,
        path=place,
        size_bytes=size,
        reason=f"the task is {state.progress.outcome}",
    )


def _blobs(row: TaskRow, *, dry_run: bool) -> Iterator[Removal]:
    """Pack the blobs of a run that is over: a file, however small, takes a block of the disk, and so does its folder."""
    folder = row.folder / "blobs"
    places = [folder, *folder.glob("??"), *(files := list(folder.glob("??/*")))]
    if not files:
        return
    saved = sum(path.lstat().st_blocks * _BLOCK_BYTES for path in places) - sum(path.lstat().st_size for path in files)
    if not dry_run:
        Blobs(folder).pack()
    reason = f"the task is over: {len(files)} files become one"
    yield Removal(kind="blobs", name=row.task_id, path=folder, size_bytes=max(saved, 0), reason=reason)


def _run(row: TaskRow, state: RunState, git: Git, *, environ: Mapping[str, str], dry_run: bool) -> Removal:
    days = int(age_s(state) / _DAY_S)
    size = _size(row.folder)
    if not dry_run:
        drop_head(environ, row.folder)
        drop_ref(git, f"{TREES_REF}/{state.identity.run_id}")
        drop_ref(git, waiting_ref(state.identity.run_id))
        drop_ref(git, snapshot_ref(state.identity.run_id))
        shutil.rmtree(row.folder)
    return Removal(
        kind="run",
        name=row.task_id,
        path=row.folder,
        size_bytes=size,
        reason=f"delivered, {days} days without a record",
    )


def _snapshots(git: Git, *, older_than_s: float, dry_run: bool) -> Iterator[Removal]:
    """Refs of runs whose folder is gone already: nothing leads to their snapshots any more."""
    for run_id, at_s in kept_runs(git).items():
        age_s = time.time() - at_s
        if age_s <= older_than_s or (tasks_folder(git.top) / run_id).exists():
            continue
        if not dry_run:
            drop_ref(git, f"{TREES_REF}/{run_id}")
            drop_ref(git, waiting_ref(run_id))
            drop_ref(git, snapshot_ref(run_id))
        reason = f"the folder of the run is gone, and the last snapshot is {int(age_s / _DAY_S)} days old"
        yield Removal(kind="snapshots", name=run_id, path=git.top, size_bytes=0, reason=reason)


def _checkouts(git: Git, environ: Mapping[str, str], *, dry_run: bool) -> Iterator[Removal]:
    """What tasks of a large repository leave for each other: the next task writes it anew."""
    folder = worktree_of(git, data_dir=data_dir(environ), task_id="any").path.parent / CHECKOUTS
    left = list(folder.glob("*"))
    if not left:
        return
    size = sum(_size(one) for one in left)
    if not dry_run:
        for one in left:
            remove_tree(one)
    reason = "they only save the next task the time to write them"
    yield Removal(kind="checkouts", name=f"{len(left)} of the tests", path=folder, size_bytes=size, reason=reason)


def _results(git: Git, environ: Mapping[str, str], *, older_than_s: float, dry_run: bool) -> Iterator[Removal]:
    folder = worktree_of(git, data_dir=data_dir(environ), task_id="any").path.parent / "results"
    old = [path for path in folder.glob("*/*.json") if time.time() - path.stat().st_mtime > older_than_s]
    size = sum(path.stat().st_size for path in old)
    if not old:
        return
    if not dry_run:
        for path in old:
            path.unlink(missing_ok=True)
    yield Removal(kind="results", name=f"{len(old)} test runs", path=folder, size_bytes=size, reason="cached long ago")


def age_s(state: RunState) -> float:
    """Seconds since the last record of a run."""
    return (datetime.now(UTC) - datetime.fromisoformat(state.progress.last_at)).total_seconds()


def _size(folder: Path) -> int:
    """Bytes of the regular files below a folder; links are not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def collect_remote(cwd: Path, *, remote: str, older_than_s: float | None = None, dry_run: bool = False) -> Collected:
    """Remove the refs of runs at a remote that nobody goes on with: every push and fetch reads the list of refs.

    A ref goes when this machine has the run with all its records, the run is over, and its last record is old. Everything
    else stays, with the reason. Branches stay.

    Args:
        older_than_s: age of the last record; None = `OLD_S`.
        dry_run: only tell.
    Raises:
        UsageError: there is no such remote.
        ToolchainError: it does not answer.
    """
    git = Git.open(cwd)
    require_remote(git.command, remote)
    removed: list[Removal] = []
    kept: list[tuple[str, str]] = []
    for ref, commit in remote_commits(git.command, remote, f"{_REFS}*").items():
        task = ref.removeprefix(_REFS)
        reason = _needed(git, task, commit, older_than_s=OLD_S if older_than_s is None else older_than_s)
        if not reason and not dry_run:
            try:
                reason = delete_ref(git.command, remote, ref=ref, commit=commit)
            except ToolchainError as exc:
                reason = exc.message
        if reason:
            kept.append((task, f"at {remote}: {reason}"))
        else:
            told = "the run is over, and this machine has it whole"
            removed.append(Removal(kind="remote", name=task, path=git.top, size_bytes=0, reason=f"at {remote}: {told}"))
    return Collected(removed=tuple(removed), kept=tuple(kept))


def _needed(git: Git, task: str, commit: str, *, older_than_s: float) -> str:
    """Why a ref has to stay, "" when it may go."""
    folder = tasks_folder(git.top) / task
    if not (folder / LOG).is_file():
        return f"this machine does not have the run: agentforge fetch {task}"
    try:
        state = load_state(folder)
    except AgentForgeError as exc:
        return f"the copy of this machine is damaged: {exc.message}"
    here = git.command.run("rev-parse", "--verify", "--quiet", snapshot_ref(task)).text.strip()
    if here != commit:
        return f"it holds another state than this machine: agentforge fetch {task}"
    if not state.progress.outcome:
        return "the run is not over"
    if age_s(state) <= older_than_s:
        return f"its last record is {int(age_s(state))} s old"
    return ""
