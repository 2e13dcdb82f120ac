"""The results of an evaluation: a folder with an append-only file, one line for what was set out to do and one for each task."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agentforge.errors import LockedError, StorageError, UsageError

FILE = "results.jsonl"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """What an evaluation was set out to do.

    Attributes:
        digest: of all tasks, so that results of other tasks are never mixed in.
        tasks: names, in the order in which they are played.
        digests: of each task, so that a comparison can tell which of them were changed.
        at: ISO 8601 in UTC.
    """

    name: str
    digest: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    at: str
    version: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """An evaluation as far as it has come. `rows` are in the order of the plan."""

    folder: Path
    plan: TrialPlan
    rows: tuple[Row, ...]

    @property
    def complete(self) -> bool:
        """Every task was played by every model."""
        return len(self.rows) == len(self.plan.tasks) * len(self.plan.models)

    def missing(self) -> list[tuple[str, str]]:
        """What is still to be played: (model, task)."""
        done = {(row["model"], row["task"]) for row in self.rows}
        return [(model, task) for model in self.plan.models for task in self.plan.tasks if (model, task) not in done]


def begin(folder: Path, plan: TrialPlan) -> None:
    """Make the folder of an evaluation.

    Raises:
        UsageError: it holds one already.
        StorageError: it cannot be written.
    """
    if (folder / FILE).exists():
        raise UsageError(
            f"{folder} holds an evaluation already", hint="continue it with --resume, or name another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise StorageError(f"{folder} cannot be made: {exc.strerror}", hint="name another folder: --out DIR") from exc
    append(folder, {"eval": asdict(plan)})


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from playing the same evaluation.

    Raises:
        LockedError: one plays it already.
    """
    descriptor = os.open(folder / FILE, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as exc:
        raise LockedError(f"{folder} is being played by another process", hint="wait for it, or end it") from exc
    finally:
        os.close(descriptor)


def append(folder: Path, value: Row) -> None:
    """Add one line; it is on the disk when this returns. What a killed process left half-written stays apart from it.

    Raises:
        StorageError: it cannot be written.
    """
    line = json.dumps(value, ensure_ascii=False).encode() + b"\n"
    path = folder / FILE
    try:
        torn = path.exists() and not path.read_bytes().endswith(b"\n")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, b"\n" + line if torn else line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as exc:
        raise StorageError(f"{path} cannot be written: {exc.strerror}", hint="check the disk and its rights") from exc


def load(place: Path) -> Results:
    """Read an evaluation from its folder or its file.

    Raises:
        UsageError: there is none, or its first line does not tell what it is.
    """
    path = place / FILE if place.is_dir() else place
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(
            f"{path} is not an evaluation: {exc}", hint="`agentforge eval list` names those that are kept"
        ) from exc
    values = [value for value in map(_value, lines) if value is not None]
    if not values or not isinstance(values[0].get("eval"), dict):
        raise UsageError(
            f"{path} does not begin with the plan of an evaluation", hint="name its folder or results.jsonl"
        )
    plan = _plan(values[0]["eval"], path)
    rows = {(row["model"], row["task"]): row for row in values[1:] if "task" in row and "model" in row}
    order = [(model, task) for model in plan.models for task in plan.tasks]
    return Results(folder=path.parent, plan=plan, rows=tuple(rows[one] for one in order if one in rows))


def kept(home: Path) -> list[Results]:
    """The evaluations below a folder, newest first; what cannot be read is left out."""
    found = []
    for path in home.glob(f"*/{FILE}"):
        try:
            found.append(load(path))
        except UsageError:
            continue
    return sorted(found, key=lambda one: one.plan.at, reverse=True)


def find(word: str | None, home: Path) -> Results:
    """Find an evaluation by its folder, its file or its name; None is the newest.

    Raises:
        UsageError: there is no such evaluation.
    """
    if word is not None and (Path(word).is_file() or (Path(word) / FILE).is_file()):
        return load(Path(word))
    for one in kept(home):
        if word is None or one.folder.name == word:
            return one
    raise UsageError(
        f"there is no evaluation {word!r}" if word else "no evaluation is kept yet",
        hint="`agentforge eval list` names them; `agentforge eval run own --model scripted` makes one",
    )


def _value(line: str) -> dict[str, Any] | None:
    """A line's value; None for one that was written by half."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _plan(value: Mapping[str, Any], path: Path) -> TrialPlan:
    listed: Sequence[str] = ("models", "tasks")
    try:
        return TrialPlan(**{**value, **{name: tuple(value[name]) for name in listed}})
    except (KeyError, TypeError) as exc:
        raise UsageError(f"{path}: its plan cannot be read: {exc}", hint="it is of another version") from exc
