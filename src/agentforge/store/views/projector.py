"""Keeps the views in a run's folder in step with its log. What they hold depends on the records of the log alone.

While a run goes on they may lag behind a few records; `flush` brings them up to date. How far they are is marked in
`views.json`; when the mark does not fit the log (a crash in between), all views are written anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.view_mark import MARK, SEAL, WRITER, mark_bytes, read_mark, views_seal, views_writer
from agentforge.store.blobs import Blobs
from agentforge.store.log.files import replace_file
from agentforge.store.log.lease import Lease
from agentforge.store.log.reader import LogScan, fold
from agentforge.store.log.records import Record, utc_now
from agentforge.store.log.snapshot import SNAPSHOT, Snapshot, snapshot_of, write_snapshot
from agentforge.store.views.actions_file import ActionsFile, ActionsSize
from agentforge.views.actions_view import Draft, Entry, fold_action, head_value
from agentforge.views.report_md import report_markdown
from agentforge.views.run_views import (
    ORIGINAL_REQUEST,
    address,
    artifact_path,
    artifact_value,
    escalation_value,
    memory_value,
    original_request_value,
    snapshot_path,
    state_value,
    task_value,
)
from agentforge.views.summary_view import summary_value
from agentforge.views.words import standing
from agentforge.views.yaml_text import dump

ACTIONS = "actions.yaml"

_OWNED = (MARK, ACTIONS, SNAPSHOT, "task.yaml", "state.yaml", "working_memory.yaml", ORIGINAL_REQUEST)
_OWNED_GLOBS = (
    "artifacts/phases/*/*.yaml",
    "artifacts/phases/*/*.md",
    "artifacts/snapshots/step_*.patch",
    "escalations/*.yaml",
    ".*.tmp",  # what an interrupted replacement left
    "artifacts/**/.*.tmp",
    "escalations/.*.tmp",
)
_ENTRIES_HELD = 200
_SAFE_NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}"

_INSIDE_A_STEP = (
    kinds.ModelCalled,
    kinds.ModelReplied,
    kinds.ToolStarted,
    kinds.ToolFinished,
    kinds.ArtifactSubmitted,
    kinds.FactsGathered,
    kinds.HookFinished,
)
_BEFORE_THE_FIRST_STEP = (kinds.RunStarted, kinds.StageStarted)
_CHANGES_HEAD = (
    kinds.RunStarted,
    kinds.RunForked,
    kinds.RunResumed,
    kinds.RunInterrupted,
    kinds.RunFinished,
    kinds.EscalationRaised,
    kinds.EscalationResolved,
)


class Projector:
    """The views of one run. `observe` every record, in order; `keep_up` or `flush` write."""

    def __init__(self, folder: Path, blobs: Blobs, *, mark: Mapping[str, object] | None = None) -> None:
        self._folder = folder
        self._blobs = blobs
        self._actions = ActionsFile(folder / ACTIONS, _actions_size(mark))
        self._written = _int(mark, "records")
        self._written_head = str(mark["head"]) if mark else ""
        self._misfit = mark is None or mark.get(WRITER) != views_writer()
        self._mark: dict[str, object] = dict(mark or {})
        self._record: Record | None = None
        self._length = 0
        self._state = RunState()
        self._draft: Draft | None = None
        self._entries: list[Entry] = []
        self._head: Entry | None = None
        self._values: dict[str, Mapping[str, object]] = {}
        self._patches: dict[str, str] = {}
        self._reports: dict[str, str] = {}
        self._escalations: set[str] = set()
        self._snapshot: Snapshot | None = None
        self._before: tuple[Record, RunState, int] | None = None
        self._due = False

    @classmethod
    def resumed(cls, folder: Path, blobs: Blobs, *, after: Snapshot | None = None) -> Projector:
        """A projector that goes on where the views in `folder` stop; observe the whole log, then ask `settled`.

        Args:
            after: what is observed begins behind this snapshot.
        """
        projector = cls(folder, blobs, mark=_read_mark(folder))
        if after is not None:
            same = projector._written > after.records or projector._written_head == after.head
            projector._misfit = projector._misfit or not same
            projector._length = after.records
        return projector

    @classmethod
    def replayed(cls, folder: Path, blobs: Blobs) -> Projector:
        """A projector that has written all views of the log in `folder` anew.

        Raises:
            IntegrityError: the log or a blob that it names was altered or damaged.
            StorageError: the disk does not take the views.
        """
        _remove_views(folder)
        projector = cls(folder, blobs)
        state = RunState()
        scan = LogScan(folder)
        for record in scan:
            state = evolve(state, record.event, at=record.at)
            projector.observe(record, state, end=scan.size_bytes)
        projector.flush()
        projector.seal()
        return projector

    def settled(self) -> bool:
        """Whether the views on disk are those of the log that was observed, as far as they go."""
        return not self._misfit and self._written <= self._length and self._actions.intact()

    def observe(self, record: Record, state: RunState, *, end: int) -> None:
        """Take in one record and the state after it.

        Args:
            end: where the record ends in the log, in bytes.
        """
        self._record, self._state, self._length = record, state, record.seq
        self._draft, entries = fold_action(self._draft, record.event, state=state)
        if record.seq <= self._written:
            self._before = (record, state, end)
            self._misfit = self._misfit or (record.seq == self._written and record.hash != self._written_head)
            return
        self._entries += entries
        self._note(record, state)
        if isinstance(record.event, kinds.StateSealed) and self._before is not None:
            sealed, before, place = self._before
            self._snapshot = snapshot_of(sealed, before, end=place, digest=record.event.digest)
        self._before = (record, state, end)
        if len(self._entries) >= _ENTRIES_HELD:
            self._write_actions()

    def keep_up(self) -> None:
        """Write what changed, unless the run is in the middle of a step."""
        if self._due:
            self.flush()

    def flush(self) -> None:
        """Bring every view up to the last observed record.

        Raises:
            IntegrityError: a blob that the log names is missing or was altered.
            StorageError: the disk does not take it.
        """
        if self._record is None or self._record.seq == self._written:
            return
        self._write_actions()
        self._write_values()
        self._write_escalations()
        self._write_yaml("working_memory.yaml", memory_value(self._state))
        self._write_yaml("state.yaml", self._state_value(self._record))
        self._write_mark(self._record)
        if self._snapshot is not None:
            write_snapshot(self._folder, self._snapshot)
            self._snapshot = None
        self._due = False

    def seal(self) -> None:
        """Put into the mark what the views are, when the run is let go of.

        Raises:
            StorageError: the disk does not take it.
        """
        if not self._mark or self._mark.get(SEAL):
            return
        views = {
            path.relative_to(self._folder).as_posix(): path.read_bytes()
            for path in _views(self._folder)
            if path.name != MARK and path.suffix != ".tmp" and path.is_file()
        }
        self._mark[SEAL] = views_seal(views, self._mark)
        replace_file(self._folder / MARK, mark_bytes(self._mark))

    def _note(self, record: Record, state: RunState) -> None:
        """Remember which files the record changes."""
        event = record.event
        self._due = self._due or not (isinstance(event, _INSIDE_A_STEP) or self._before_first_step(event))
        if isinstance(event, _CHANGES_HEAD):
            self._head = head_value(state, standing=standing(state, interrupted=_interrupts(record)))
        if isinstance(event, (kinds.RunStarted, kinds.RunForked, kinds.RunResumed, kinds.StagePassed)):
            self._values["task.yaml"] = task_value(state)
        if isinstance(event, kinds.RunStarted):
            self._values[ORIGINAL_REQUEST] = original_request_value(state)
        elif isinstance(event, kinds.StagePassed):
            self._note_artifact(_safe(event.stage), state)
        elif isinstance(event, kinds.StepFinished) and event.patch:
            self._patches[snapshot_path(event.step)] = event.patch
        elif isinstance(event, (kinds.EscalationRaised, kinds.EscalationResolved)):
            self._escalations.add(event.escalation_id)

    def _before_first_step(self, event: kinds.Event) -> bool:
        """The first request leaves before the first view is written: loading YAML would delay it."""
        return not self._written and isinstance(event, _BEFORE_THE_FIRST_STEP)

    def _note_artifact(self, stage: str, state: RunState) -> None:
        artifact = state.work.artifacts[stage]
        self._values[artifact_path(stage)] = artifact_value(artifact)
        report = report_markdown(stage, artifact, state)
        if report is not None:
            self._reports[f"artifacts/phases/{stage}/{report[0]}"] = report[1]

    def _write_actions(self) -> None:
        if self._entries or self._head is not None:
            self._actions.write(self._entries, head=self._head)
        self._entries, self._head = [], None

    def _write_values(self) -> None:
        for path, value in self._values.items():
            self._write_yaml(path, value)
        for path, digest in self._patches.items():
            replace_file(self._folder / path, self._blobs.get(digest))
        for path, text in self._reports.items():
            replace_file(self._folder / path, text.encode("utf-8", "replace"))
        self._values, self._patches, self._reports = {}, {}, {}

    def _write_escalations(self) -> None:
        for escalation_id in sorted(self._escalations & self._state.people.escalations.keys()):
            item = self._state.people.escalations[escalation_id]
            text = dump(escalation_value(item, run_id=self._state.identity.run_id)).encode()
            replace_file(self._folder / "escalations" / f"{_safe(escalation_id)}.yaml", text)
            pending = _pending_folder(self._folder)
            if pending is None:
                continue
            mirrored = pending / f"{_safe(address(self._state.identity.run_id, escalation_id))}.yaml"
            if item.resolution is None:
                replace_file(mirrored, text)
            else:
                mirrored.unlink(missing_ok=True)
        self._escalations = set()

    def _state_value(self, record: Record) -> dict[str, object]:
        return state_value(self._state, interrupted=_interrupts(record), records=record.seq, head=record.hash)

    def _write_yaml(self, path: str, value: Mapping[str, object]) -> None:
        replace_file(self._folder / path, dump(value).encode())

    def _write_mark(self, record: Record) -> None:
        self._mark = {
            WRITER: views_writer(),
            SEAL: "",
            "records": record.seq,
            "head": record.hash,
            "actions": asdict(self._actions.size),
            "summary": summary_value(self._state),
        }
        replace_file(self._folder / MARK, mark_bytes(self._mark))
        self._written, self._written_head = record.seq, record.hash


def rebuild(folder: Path) -> None:
    """Write every view of a run anew from its log alone.

    Raises:
        LockedError: a process drives the run.
        IntegrityError: the log or a blob that it names was altered or damaged.
        StorageError: the disk does not take the views.
    """
    lease = Lease.take(folder, since=utc_now())
    try:
        fold(folder)  # a damaged log keeps the views it has
        Projector.replayed(folder, Blobs(folder / "blobs"))
    finally:
        lease.release()


def read_summary(folder: Path) -> tuple[str, Mapping[str, object]] | None:
    """The head of the log that the views of a run show, and the run's line in listings; None when there is none."""
    mark = _read_mark(folder)
    summary = mark.get("summary") if mark else None
    return (str(mark["head"]), summary) if mark and isinstance(summary, dict) else None


def _read_mark(folder: Path) -> dict[str, object] | None:
    try:
        return read_mark((folder / MARK).read_bytes())
    except OSError:
        return None


def _actions_size(mark: Mapping[str, object] | None) -> ActionsSize | None:
    sizes = mark.get("actions") if mark else None
    if not isinstance(sizes, dict):
        return None
    return ActionsSize(**{name: _int(sizes, name) for name in ActionsSize.__slots__})


def _int(values: Mapping[str, object] | None, name: str) -> int:
    value = values.get(name) if values else None
    return value if isinstance(value, int) else 0


def _interrupts(record: Record) -> bool:
    return isinstance(record.event, kinds.RunInterrupted)


def _safe(name: str) -> str:
    """A name out of a log that becomes a file name: it must not lead out of the folder."""
    if not re.fullmatch(_SAFE_NAME, name):
        raise IntegrityError(f"{name!r} in the log cannot name a file", hint="the trail was not written by agentforge")
    return name


def _pending_folder(folder: Path) -> Path | None:
    """Where the repository shows its open escalations; None for a run that stands elsewhere (a copy, a bundle)."""
    tasks = folder.parent
    if tasks.name != "tasks" or tasks.parent.name != ".agentforge":
        return None
    return tasks.parent / "escalations"


def _views(folder: Path) -> list[Path]:
    """Where the views of a run lie, or could lie."""
    return [*(folder / name for name in _OWNED), *(path for pattern in _OWNED_GLOBS for path in folder.glob(pattern))]


def _remove_views(folder: Path) -> None:
    owned = _views(folder)
    pending = _pending_folder(folder)
    if pending is not None and pending.is_dir():
        owned += [path for path in pending.iterdir() if path.name.startswith(f"{folder.name}.")]
    for path in owned:
        path.unlink(missing_ok=True)
