"""The tasks of a repository: where their folders are, which there are, and which one a word means."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from agentforge import canonical
from agentforge.errors import AgentForgeError, IntegrityError, StorageError, UsageError
from agentforge.frozen import dataclass
from agentforge.store.log.files import replace_file, storage_error
from agentforge.store.log.intact import look_at, remembered
from agentforge.store.log.lease import LEASE, read_holder
from agentforge.store.log.reader import LOG, load_state, unreadable
from agentforge.store.views.projector import read_summary
from agentforge.views.summary_view import summary_value
from agentforge.workspace.files.file_access import sync_folder

_IGNORED = ".gitignore\ntasks/\nescalations/\nviolations/\naudit/\ncache/\n"
_ID_START = len("task-20251231-")
_TAIL_BYTES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task in a listing.

    Attributes:
        outcome: delivered, analyzed, failed, aborted, escalated, waiting, paused, running, or damaged (see `error`).
        started_at, last_at: ISO 8601, UTC.
        cost_usd: None when a price is unknown.
        waits_for: keys of what other tasks must deliver first.
        progress: percent of the way to a delivery.
        open_escalations: ids inside the task ("E1").
        error: why the task cannot be read.
        cause: the slug of that error: `integrity` = it was altered or damaged, `storage` = the system does not let us look.
        parts: the tasks that a plan became: {repo, path, task_id}.
        parent: the run that it was forked from, or is an attempt of.
    """

    task_id: str
    folder: Path
    outcome: str
    request: str = ""
    stage: str = ""
    branch: str = ""
    started_at: str = ""
    last_at: str = ""
    steps: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    open_escalations: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    progress: int = 0
    error: str = ""
    cause: str = ""
    parts: tuple[dict[str, Any], ...] = ()
    parent: str = ""

    @property
    def attempt(self) -> int:
        """Which of its parent's independent attempts it is; 0 = it is none."""
        return attempt_of(self.task_id, self.parent)


def attempt_of(task_id: str, parent: str) -> int:
    """The number of an independent attempt of `parent`, by its name; 0 = the run is none."""
    number = task_id.removeprefix(f"{parent}-a")
    return int(number) if parent and number != task_id and number.isdecimal() else 0


def tasks_folder(repo: Path) -> Path:
    """Where the tasks of a repository live."""
    return repo / ".agentforge" / "tasks"


def ensure_agentforge_folder(repo: Path) -> Path:
    """Make `<repo>/.agentforge`, with a .gitignore (unless there is one) that keeps runs and itself out of commits.

    Raises:
        StorageError: it cannot be made.
    """
    folder = repo / ".agentforge"
    try:
        tasks_folder(repo).mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise storage_error(exc, tasks_folder(repo)) from exc
    ignore = folder / ".gitignore"
    if not ignore.exists():
        replace_file(ignore, _IGNORED.encode())
    return folder


def new_task_folder(repo: Path, request: str, *, day: str, besides: Collection[str] = ()) -> tuple[str, Path]:
    """Name a new task and make its folder, which no other process gets.

    Args:
        day: `YYYYMMDD`.
        besides: names that no task may have, though there is no folder of that name.
    Raises:
        StorageError: it cannot be made.
    """
    ensure_agentforge_folder(repo)
    folder = tasks_folder(repo)
    try:
        taken = frozenset(path.name for path in folder.iterdir()) | frozenset(besides)
        while True:
            name = canonical.task_id(request, day=day, taken=taken)
            try:
                (folder / name).mkdir()
            except FileExistsError:
                taken |= {name}
                continue
            sync_folder(folder)
            return name, folder / name
    except OSError as exc:
        raise storage_error(exc, folder) from exc


def list_tasks(repo: Path) -> list[TaskRow]:
    """All tasks of a repository, newest first. A task that cannot be read is listed as damaged, with the reason."""
    with remembered(tasks_folder(repo)) as known:
        rows = [task_row(folder, known=known) for folder in _begun(_task_folders(repo))]
    return sorted(rows, key=lambda row: (row.started_at, row.task_id), reverse=True)


def find_task(repo: Path, text: str, *, empty: bool = False) -> tuple[str, Path]:
    """The task that `text` means: its id, or a beginning of the id or of its readable part that fits only one.

    Args:
        empty: find folders in which no task began, too.
    Raises:
        UsageError: none or several fit, or no task began there.
    """
    found = _task_folders(repo)
    folders = {folder.name: folder for folder in (found if empty else _begun(found))}
    if text not in folders and text in {folder.name for folder in found}:
        raise UsageError(
            f"no task began in {tasks_folder(repo) / text}: a process died there before the first record",
            hint=f"start the request again; had it begun, `agentforge verify {text}` says so",
        )
    if text in folders:
        return text, folders[text]
    fitting = [name for name in folders if text and (name.startswith(text) or name[_ID_START:].startswith(text))]
    if len(fitting) == 1:
        return fitting[0], folders[fitting[0]]
    if fitting:
        raise UsageError(
            f"{text!r} matches {len(fitting)} tasks: {_some(fitting)}", hint="give more characters of the id"
        )
    known = f"there are: {_some(list(folders))}" if folders else "there is none yet: agentforge start REQUEST"
    raise UsageError(f"no task {text!r} in {repo}", hint=known)


def task_row(folder: Path, *, known: dict[str, str] | None = None) -> TaskRow:
    """The row of one task: from its views when they are up to date with its log, else from the log itself.

    Args:
        known: of a listing (store.intact.remembered).
    """
    try:
        return _row(folder, _summary(folder, known))
    except (AgentForgeError, OSError) as exc:
        return TaskRow(task_id=folder.name, folder=folder, outcome="damaged", error=str(exc), cause=_cause(exc))


def task_summaries(repo: Path) -> list[dict[str, Any]]:
    """What the views say of every task that can be read (views.summary_view), oldest first; `folder` and `standing` added."""
    with remembered(tasks_folder(repo)) as known:
        found = [task_summary(folder, known=known) for folder in _begun(_task_folders(repo))]
    return sorted(found, key=lambda value: (value["started_at"], value["task_id"]))


def task_summary(folder: Path, *, known: dict[str, str] | None = None) -> dict[str, Any]:
    """What the views say of one task; of one that cannot be read the `standing` is "damaged", and `error` says why."""
    try:
        value = _summary(folder, known)
        value = value if "spending" in value else summary_value(load_state(folder))
    except (AgentForgeError, OSError) as exc:
        row = {"task_id": folder.name, "started_at": "", "folder": folder, "standing": "damaged"}
        return {**row, "error": str(exc), "cause": _cause(exc)}
    return {**value, "task_id": folder.name, "folder": folder, "standing": standing_now(folder, value)}


def _cause(exc: AgentForgeError | OSError) -> str:
    return exc.slug if isinstance(exc, AgentForgeError) else StorageError.slug


def standing_now(folder: Path, summary: dict[str, Any]) -> str:
    """How a task stands at this moment: whether a process drives it is no part of its record."""
    waiting = tuple(str(item) for item in cast("list[str]", summary["open_escalations"]))
    needs = tuple(str(item) for item in cast("list[str]", summary.get("waits_for", [])))
    return str(summary["outcome"] or _standing(folder, waiting, needs))


def _begun(folders: Iterable[Path]) -> list[Path]:
    """Folders that hold anything of a task: a process that died before the first record leaves an empty one, or a lease."""
    return [path for path in folders if (path / LOG).exists() or {*os.listdir(path)} - {LEASE}]  # noqa: PTH208


def _task_folders(repo: Path) -> list[Path]:
    try:
        return sorted(Path(entry.path) for entry in os.scandir(tasks_folder(repo)) if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _summary(folder: Path, known: dict[str, str] | None) -> dict[str, Any]:
    look = look_at(folder, known)
    kept = read_summary(folder) if look == "chain holds" else None
    if kept is not None and "progress" in kept[1] and _ends_with(folder / LOG, head=kept[0]):
        return dict(kept[1])
    return summary_value(load_state(folder))


def _ends_with(log: Path, *, head: str) -> bool:
    """Whether the last record of a log has the hash `head`; its hashes stand at its end, so the tail is enough."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            tail = file.read()
    except FileNotFoundError as exc:
        raise IntegrityError(f"{log} is missing", hint="restore it from a copy of the run") from exc
    except OSError as exc:
        raise unreadable(exc, log) from exc
    return tail.endswith(b"}\n") and f'"hash":"{head}"'.encode() in tail.rpartition(b'"prev":"')[0][-80:]


def _row(folder: Path, summary: dict[str, Any]) -> TaskRow:
    known = {field.name for field in fields(TaskRow)}
    values = {name: value for name, value in summary.items() if name in known}
    values["open_escalations"] = tuple(values.get("open_escalations", ()))
    values["waits_for"] = tuple(values.get("waits_for", ()))
    values["parts"] = tuple(values.get("parts", ()))
    values["parent"] = values.get("parent") or ""
    waiting: tuple[str, ...] = values["open_escalations"]
    values["outcome"] = values.get("outcome") or _standing(folder, waiting, values["waits_for"])
    return TaskRow(**{**values, "task_id": folder.name, "folder": folder})


def _standing(folder: Path, open_escalations: tuple[str, ...], waits_for: tuple[str, ...]) -> str:
    if open_escalations:
        return "escalated"
    return "running" if read_holder(folder).alive else "waiting" if waits_for else "paused"


def _some(names: list[str]) -> str:
    shown = ", ".join(sorted(names)[:5])
    return f"{shown}, ..." if len(names) > 5 else shown
