"""The head files: how far each trail had come when its last process ended, kept outside of the run's own folder.

Whoever writes to a task's log opens it here: a log that does not hold what was seen of it from outside is refused before
a record is added, because the new head would cover up what is missing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agentforge.canonical import canonical_bytes, digest_bytes
from agentforge.config.paths import data_dir
from agentforge.errors import IntegrityError, LockedError
from agentforge.events.state.run_state import RunState
from agentforge.proof.anchors import NOTES_REF, Anchor, read_commit, read_note
from agentforge.store.log.files import replace_file
from agentforge.store.log.reader import load_state
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.workspace.git.objects import commit_object, note_of
from agentforge.workspace.git.repository import Git

LEAVING_S = 10.0
"""How long a person's command waits for the process that just brought a run to rest; it needs a fraction of that."""

_LOOK_AGAIN_S = 0.05

_REMOVE_HEAD = "see `agentforge verify ID`; if nothing else was altered, remove the file"


def open_task(folder: Path, environ: Mapping[str, str], *, leaving_s: float = 0.0) -> RunLog:
    """Become the writer of the task in `folder`.

    Args:
        leaving_s: how long to wait for a process that has brought the run to rest (it asks, it waits, it is over) and is
            about to leave: who answers a question as soon as it is seen is not turned away.
    Raises:
        IntegrityError: its log was altered, damaged, cut off or rewritten, by itself or by what was seen of it outside.
        LockedError: another process drives it.
        StorageError: the disk does not take it.
    """

    def anchors(state: RunState) -> list[Anchor]:
        kept = kept_head(environ, folder)
        return [*([kept] if kept is not None else []), *_anchors_in_git(folder, state)]

    ends = time.monotonic() + leaving_s
    while True:
        try:
            return RunLog.open(folder, clock=utc_now, anchors=anchors)
        except LockedError:
            if time.monotonic() > ends or not _stands_still(folder):
                raise
        time.sleep(_LOOK_AGAIN_S)


def _stands_still(folder: Path) -> bool:
    """Whether nobody can drive the run further before a person, another run or nobody at all does something."""
    state = load_state(folder)
    return bool(state.progress.outcome or state.people.open_escalations or state.relations.waits_for)


@contextmanager
def task_log(folder: Path, environ: Mapping[str, str], *, leaving_s: float = 0.0) -> Iterator[RunLog]:
    """Be the writer of the task in `folder` for a while, and remember its head at the end.

    Args:
        leaving_s: as of `open_task`.
    Raises:
        IntegrityError, LockedError, StorageError: as `open_task`.
    """
    with open_task(folder, environ, leaving_s=leaving_s) as log:
        yield log
        keep_head(environ, folder, head=log.head, records=log.length)


def _anchors_in_git(folder: Path, state: RunState) -> list[Anchor]:
    """What the commit of the task's branch and the note on it say of the trail; none before there is a delivery."""
    if folder.parent.name != "tasks" or not state.identity.branch:
        return []
    git = Git(folder.parents[2])
    oid = str((state.work.delivered or {}).get("commit", "")) or f"refs/heads/{state.identity.branch}"
    oid = git.command.run("rev-parse", "--verify", "--quiet", f"{oid}^{{commit}}").text.strip()
    raw = commit_object(git, oid) if oid else None
    commit = read_commit(raw, oid=oid) if raw is not None else None
    if commit is None or commit.task != state.identity.run_id:
        return []
    text = note_of(git, oid, NOTES_REF)
    seen = [commit.anchor, read_note(text).anchor if text is not None else None]
    return [anchor for anchor in seen if anchor is not None]


def keep_head(environ: Mapping[str, str], folder: Path, *, head: str, records: int) -> None:
    """Remember the head of the run in `folder`, so that it survives a power cut: a half-written one would look altered.

    Raises:
        StorageError: the data folder does not take it.
    """
    replace_file(_path(environ, folder), _head_bytes(head=head, records=records), durable=True)


def _head_bytes(*, head: str, records: int) -> bytes:
    return canonical_bytes({"head": head, "records": records}) + b"\n"


def kept_head(environ: Mapping[str, str], folder: Path) -> Anchor | None:
    """The remembered head of the run in `folder`; None when there is none.

    Raises:
        IntegrityError: the file cannot be read, or is not what `keep_head` wrote.
    """
    path = _path(environ, folder)
    try:
        data = path.read_bytes()
        value = json.loads(data)
        found = Anchor(source="head file", head=str(value["head"]), records=int(value["records"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise IntegrityError(f"{path} cannot be read: {exc}", hint=_REMOVE_HEAD) from exc
    if _head_bytes(head=found.head, records=found.records) != data:
        raise IntegrityError(f"{path} is not what was written", hint=_REMOVE_HEAD)
    return found


def drop_head(environ: Mapping[str, str], folder: Path) -> None:
    """Forget the run in `folder`."""
    _path(environ, folder).unlink(missing_ok=True)


def _path(environ: Mapping[str, str], folder: Path) -> Path:
    place = folder.resolve()
    return data_dir(environ) / "heads" / digest_bytes(os.fsencode(place.parent))[:16] / f"{place.name}.json"
