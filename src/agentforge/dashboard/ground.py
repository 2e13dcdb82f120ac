"""What the dashboard looks at: the repositories and their tasks, read again only when something changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from agentforge.app.composition.task_queries import repository as repository_of
from agentforge.config.repositories import known_repositories, registry_file
from agentforge.errors import ConfigError, UsageError
from agentforge.fleet import Line
from agentforge.frozen import dataclass
from agentforge.store.tasks.folders import attempt_of, standing_now, task_summary, tasks_folder

Task = dict[str, Any]
Mark = tuple[str, int, int]
Signature = tuple[Mark, ...]

_KEY_CHARACTERS = 10
_FRESH_S = 5.0
"""A list is read anew after this time at the latest: a process that died leaves no trace in a folder."""
_LOOK_S = 0.4
_LEASE = "/lease"
_BLANK: Task = {
    "request": "",
    "stage": "",
    "error": "",
    "open_escalations": (),
    "cost_usd": None,
    "steps": 0,
    "queued": "",
}
"""What is shown of a task that cannot be read."""
_NOTHING: Signature = (("", 0, 0),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository on the dashboard.

    Attributes:
        key: stands for it in addresses; made from its path.
    """

    name: str
    path: Path

    @property
    def key(self) -> str:
        """A short name that no other path has."""
        return sha256(os.fsencode(self.path)).hexdigest()[:_KEY_CHARACTERS]


class Ground:
    """The repositories, and the rows of all their tasks.

    Args:
        repositories: says which there are, each time that it is asked.
        line: the queue, asked only when a task stands still.
    """

    def __init__(self, repositories: Callable[[], Sequence[Repository]], *, line: Callable[[], Line]) -> None:
        self._repositories = repositories
        self._line = line
        self._queue_trouble = ""
        self._lock = Lock()
        self._looked: tuple[float, Signature, Signature] = (0.0, _NOTHING, ())
        self._read: tuple[float, Signature, list[Task]] = (0.0, _NOTHING, [])
        self._kept: dict[tuple[Mark, Mark], Task] = {}
        self._marks: list[tuple[Repository, list[Mark]]] = []

    def repositories(self) -> list[Repository]:
        """The repositories, in the order in which they were registered."""
        return list(self._repositories())

    @property
    def troubles(self) -> list[str]:
        """What is wrong: a repository that vanished, a registry or a queue that cannot be read."""
        vanished = [
            f"{repository.name} is not at {repository.path} any more: agentforge repo add PATH --name {repository.name}"
            for repository in self._repositories()
            if not repository.path.is_dir()
        ]
        said = getattr(self._repositories, "trouble", "")
        return [*filter(None, (said, self._queue_trouble)), *vanished]

    def find(self, key: str) -> Repository:
        """The repository of an address.

        Raises:
            UsageError: there is none.
        """
        for repository in self._repositories():
            if repository.key == key:
                return repository
        raise UsageError(f"no repository {key!r} on this dashboard", hint="see the list of tasks")

    def task_folder(self, key: str, task_id: str) -> Path:
        """The folder of a task; nothing but its whole id fits.

        Raises:
            UsageError: there is no such task.
        """
        repository = self.find(key)
        if not repository.path.is_dir():
            raise UsageError(
                f"the repository {repository.name} is not at {repository.path} any more",
                hint=f"where is it now? agentforge repo add PATH --name {repository.name}",
            )
        folder = tasks_folder(repository.path) / task_id
        if Path(task_id).name != task_id or task_id.startswith(".") or not folder.is_dir():
            raise UsageError(f"no task {task_id!r} in {repository.name}", hint="it may have been removed by gc")
        return folder

    def standing(self, folder: Path, standing: str) -> tuple[str, str]:
        """How a task stands that nobody drives: `queued` where a worker is to drive it, and its place in words.

        Args:
            standing: as its log has it.
        """
        if standing != "paused":
            return standing, ""
        line = self._line()
        self._queue_trouble = line.trouble
        queued = line.of(folder)
        if queued is None:
            return standing, ""
        return "queued" if queued.status == "queued" else standing, queued.words

    def tasks(self) -> list[Task]:
        """What the views say of every task, newest first; `repo` (its key) and `repo_name` are added."""
        with self._lock:
            now, signature = time.monotonic(), self._signature(again_s=0.0)
            at, read, rows = self._read
            if read != signature or now - at > _FRESH_S:
                rows = self._rows()
                self._read = (now, signature, rows)
            return rows

    def signature(self) -> Signature:
        """What changes when a task does; all open pages share one look."""
        with self._lock:
            return self._signature(again_s=_LOOK_S)

    def look_again(self) -> None:
        """Forget what was read: something was changed from here."""
        with self._lock:
            self._looked = (0.0, _NOTHING, ())
            self._read = (0.0, _NOTHING, [])

    def _signature(self, *, again_s: float) -> Signature:
        """Look into the folders, unless that was done within `again_s`; other repositories are another look."""
        at, known, found = self._looked
        now = time.monotonic()
        repositories = self._repositories()
        named: Signature = tuple((f"{repository.name}\0{repository.path}", 0, 0) for repository in repositories)
        if now - at >= again_s or known != named:
            self._marks = [(repository, _marks(repository)) for repository in repositories]
            found = (*named, *(mark for _, marks in self._marks for mark in marks))
            self._looked = (now, named, found)
        return found

    def _rows(self) -> list[Task]:
        """Read the tasks that changed since the last look, and those anew whose process may have died."""
        kept, rows = self._kept, []
        self._kept = {}
        for repository, marks in self._marks:
            named = {"repo": repository.key, "repo_name": repository.name}
            for log, lease in zip(marks[::2], marks[1::2], strict=True):
                row = kept.get((log, lease))
                if row is None or row["repo_name"] != repository.name:
                    row = {**_BLANK, **task_summary(Path(log[0])), **named}
                    row["asked"] = _now(row)
                elif row["asked"] == "running":  # a process that died leaves no trace
                    row["asked"] = _now(row)
                self._kept[log, lease] = row
                rows.append(self._standing(row))
        return sorted(rows, key=lambda row: (row["started_at"], row["task_id"]), reverse=True)

    def _standing(self, row: Task) -> Task:
        """A row with how the task stands; `asked` is what its record and its process say, without the queue."""
        word = row["asked"]
        if word == "paused":
            word, row["queued"] = self.standing(row["folder"], word)
        elif word == "aborted" and attempt_of(row["task_id"], row.get("parent") or ""):
            word = "attempt"
        row["standing"] = word
        return row


def _now(row: Task) -> str:
    return "damaged" if row["standing"] == "damaged" else standing_now(row["folder"], row)


class Registered:
    """The repositories of the user's registry and further ones; the registry is read again when it changed.

    Args:
        more: shown, too, where the registry does not name them.
    """

    def __init__(self, environ: Mapping[str, str], *, more: Sequence[Repository]) -> None:
        self._environ = environ
        self._more = more
        self._read: tuple[tuple[int, int], list[Repository]] = ((-1, -1), [])
        self.trouble = ""

    def __call__(self) -> list[Repository]:
        """The repositories now; of a registry that was broken since, those that it named before.

        Raises:
            ConfigError: the registry is broken, and was so from the beginning.
        """
        found = _stat(str(registry_file(self._environ)))
        stamp = (found.st_mtime_ns, found.st_size) if found else (0, 0)
        if self._read[0] != stamp:
            try:
                entries = known_repositories(self._environ).values()
            except ConfigError as exc:
                if self._read[0] == (-1, -1):
                    raise
                self.trouble = f"{exc.message} - {exc.hint}"
                return self._read[1]
            self.trouble = ""
            known = [Repository(name=row.name, path=row.path) for row in entries]
            paths = {row.path.resolve() for row in known}
            self._read = (stamp, [*known, *(row for row in self._more if row.path.resolve() not in paths)])
        return self._read[1]


def named_repositories(paths: Sequence[Path]) -> list[Repository]:
    """Repositories under the names of their folders.

    Raises:
        RepositoryError: one of the folders belongs to no repository.
    """
    tops = list(dict.fromkeys(repository_of(path) for path in paths))
    return [Repository(name=top.name, path=top) for top in tops]


def _marks(repository: Repository) -> list[Mark]:
    """When the log and the lease of each task were written last, by turns."""
    found: list[Mark] = []
    try:
        folders = sorted(entry.path for entry in os.scandir(tasks_folder(repository.path)) if entry.is_dir())
    except OSError:  # no task yet, or the repository was moved away
        return []
    for folder in folders:
        log = _stat(f"{folder}/events.jsonl")
        found.append((folder, log.st_size if log else 0, log.st_mtime_ns if log else 0))
        lease = _stat(f"{folder}{_LEASE}")
        found.append((f"{folder}{_LEASE}", lease.st_size if lease else 0, lease.st_mtime_ns if lease else 0))
    return found


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 # thousands of them
    except OSError:
        return None
