"""A new run from the beginning of another: the shared records byte for byte, the workspace of the last shared step."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge import __version__
from agentforge.app.tasks.log_heads import LEAVING_S, drop_head, task_log
from agentforge.app.tasks.workplace import ensure_tree
from agentforge.config.paths import data_dir
from agentforge.errors import UsageError
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import encode
from agentforge.frozen import dataclass
from agentforge.store.blobs import Blobs
from agentforge.store.log.files import replace_file
from agentforge.store.log.reader import LOG, LogScan, read
from agentforge.store.log.records import not_before, utc_now, write_line
from agentforge.store.log.run_log import RunLog
from agentforge.store.tasks.folders import find_task, new_task_folder
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.snapshots import share
from agentforge.workspace.git.worktree import branch_name, worktree_of

if TYPE_CHECKING:
    pass
    pass
    pass
    pass

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked:
    """A new run.

    Attributes:
        records, head: how many records it shares with its parent, and the hash of the last of them.
    """

    task_id: str
    parent: str
    step: int
    records: int
    head: str
    folder: Path
    branch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What two runs have in common: the bytes of the log, the state after them, the blobs that they name."""

    text: bytes
    state: RunState
    head: str
    records: int
    fence: int
    at: str
    blobs: frozenset[str]


def fork(
    cwd: Path, task_id: str, *, from_step: int | None = None, model: str = "", environ: Mapping[str, str]
) -> Forked:
    """Make a run that shares everything up to the end of a step with another run; `resume` drives it on.

    Args:
        from_step: None = the last step that ended.
        model: `provider/name` that goes on; "" = the parent's.
    Raises:
        UsageError: the step was never finished.
        LockedError: a process drives the parent.
        RepositoryError: the step's snapshot is gone and cannot be made again.
    Side effects: a run folder whose blobs are links to the parent's; a record in the parent's log that names the fork.
    """
    git = Git.open(cwd)
    with task_log(find_task(git.top, task_id)[1], environ, leaving_s=LEAVING_S) as parent:
        from_step = _last_finished(parent.folder) if from_step is None else from_step
        shared = _shared(parent.folder, from_step)
        child, folder = new_task_folder(git.top, shared.state.brief.request, day=utc_now()[:10].replace("-", ""))
        event = kinds.RunForked(
            run_id=child,
            parent=parent.state.identity.run_id,
            parent_head=shared.head,
            parent_records=shared.records,
            step=from_step,
            repo=str(git.top),
            worktree=str(worktree_of(git, data_dir=data_dir(environ), task_id=child).path),
            branch=branch_name(child),
            model=model,
            program=__version__,
        )
        _keep_snapshot(git, shared.state, event, folder=parent.folder)
        drop_head(environ, folder)  # of a run of the same name whose folder was deleted
        _write(folder, event, shared, blobs=parent.folder / "blobs")
        RunLog.open(folder, clock=utc_now).close()  # writes the views
        parent.append(
            kinds.ForkMade(child=child, step=from_step, records=shared.records, head=shared.head, program=__version__)
        )
    return Forked(
        task_id=child,
        parent=event.parent,
        step=from_step,
        records=shared.records,
        head=shared.head,
        folder=folder,
        branch=event.branch,
    )


def _last_finished(folder: Path) -> int:
    return max(
        (record.event.step for record in read(folder) if isinstance(record.event, kinds.StepFinished)), default=0
    )


def fork_here(git: Git, parent: Path, place: Path, event_of: Callable[[Shared], kinds.RunForked]) -> None:
    """Make a run in the folder `place` that shares everything that its parent has recorded so far; nobody else drives the parent.

    Side effects: a run folder whose blobs are links to the parent's.
    """
    shared = _shared(parent, None)
    event = event_of(shared)
    place.mkdir(parents=True, exist_ok=True)
    _keep_snapshot(git, shared.state, event, folder=parent)
    _write(place, event, shared, blobs=parent / "blobs")
    RunLog.open(place, clock=utc_now).close()  # writes the views


def _shared(folder: Path, step: int | None) -> Shared:
    """Read the log up to the end of a step, None = all of it."""
    scan, state, named, last, called = LogScan(folder), RunState(), set[str](), 0, 0
    for record in scan:
        state = evolve(state, record.event, at=record.at)
        named.update(_digests(encode(record.event)[1]))
        if isinstance(record.event, kinds.StepFinished):
            last = record.event.step
        elif isinstance(record.event, kinds.ArtifactSubmitted) and record.event.step > max(last, called):
            last = record.event.step  # a step without a model
        else:
            called = record.event.step if isinstance(record.event, kinds.ModelCalled) else called
            continue
        if last == step:
            return _shared_so_far(scan, state, named)
    if step is None:
        return _shared_so_far(scan, state, named)
    told = f"the run finished steps 1 to {last}" if last else "the run finished no step yet"
    raise UsageError(f"{folder.name} has no finished step {step}", hint=told)


def _shared_so_far(scan: LogScan, state: RunState, named: set[str]) -> Shared:
    return Shared(
        text=scan.path.read_bytes()[: scan.size_bytes],
        state=state,
        head=scan.head,
        records=scan.length,
        fence=scan.fence,
        at=scan.at,
        blobs=frozenset(named),
    )


def _digests(value: object) -> Iterator[str]:
    """Everything in a record that may name a blob."""
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _digests(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _digests(item)


def _keep_snapshot(git: Git, state: RunState, event: kinds.RunForked, *, folder: Path) -> None:
    tree = state.work.trees.get("work")
    if not tree:
        return
    place = replace(state, identity=replace(state.identity, worktree=event.worktree))
    ensure_tree(tree, git, place, folder=folder, blobs=Blobs(folder / "blobs"))
    share(git, event.parent, event.run_id, tree=tree, base=state.identity.base_commit, when=state.progress.last_at)


def _write(folder: Path, event: kinds.RunForked, shared: Shared, *, blobs: Path) -> None:
    """Link the blobs, then put the whole log in place at once: a run without its own first record would be its parent."""
    for digest in sorted(shared.blobs):
        _link(digest, Blobs(blobs), Blobs(folder / "blobs"))
    name, data = encode(event)
    at = not_before(utc_now(), shared.at)
    line = write_line(name, data, seq=shared.records + 1, at=at, fence=shared.fence, prev=shared.head)
    replace_file(folder / LOG, shared.text + line, durable=True)


def _link(digest: str, source: Blobs, target: Blobs) -> None:
    """Share a blob; what only looks like a digest names none."""
    for suffix in ("", ".z"):
        old = source.folder / digest[:2] / f"{digest[2:]}{suffix}"
        new = target.folder / digest[:2] / old.name
        if not old.is_file() or new.exists():
            continue
        new.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # another file system, or one without links
            os.link(old, new)
    if source.has(digest) and not target.has(digest):
        target.put(source.get(digest))
