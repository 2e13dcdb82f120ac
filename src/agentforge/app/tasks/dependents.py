"""Runs that wait for other runs go on by themselves: who ends, or passes a stage, looks who waited for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from agentforge.app.tasks.dependencies import look_at
from agentforge.canonical import digest_value
from agentforge.config.paths import data_dir
from agentforge.errors import AgentForgeError, StorageError
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.run_dependencies import unmet
from agentforge.store.log.files import replace_file
from agentforge.store.log.reader import load_state
from agentforge.store.tasks.folders import tasks_folder

QUEUED = "AGENTFORGE_QUEUED"
"""Set for a run that a worker drives: the queue brings it back, nobody starts a process for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleeper:
    """A run that waits for others.

    Attributes:
        queued: it came from the queue and goes back there.
    """

    note: Path
    repo: Path
    task_id: str
    queued: bool


def keep_waiting(state: RunState, environ: Mapping[str, str]) -> None:
    """Note that a run waits, or forget it when it does not.

    Side effects: a small file in the data folder.
    """
    folder = data_dir(environ) / "waiting"
    note = folder / f"{digest_value([state.identity.repo, state.identity.run_id])[:24]}.json"
    if not state.relations.waits_for or state.progress.outcome:
        if folder.is_dir():
            note.unlink(missing_ok=True)
        return

    value = {"repo": state.identity.repo, "task_id": state.identity.run_id, "queued": environ.get(QUEUED) == "1"}
    replace_file(note, json.dumps(value).encode())


def tell_waiting_runs(state: RunState, environ: Mapping[str, str]) -> None:
    """Note a run that waits for others, and wake those that waited for it.

    Side effects: see `keep_waiting` and `wake`.
    """
    keep_waiting(state, environ)
    wake(environ)


def wake(environ: Mapping[str, str]) -> list[str]:
    """Start every waiting run whose wait is over.

    Returns:
        Their ids.
    Side effects: processes that live on after this one; those from the queue are left to the workers.
    """
    woken = []
    for sleeper in sleepers(environ):
        if not sleeper.queued and is_ready(sleeper, environ) and _claimed(sleeper):
            _start(sleeper, environ)
            woken.append(sleeper.task_id)
    return woken


def sleepers(environ: Mapping[str, str]) -> Iterator[Sleeper]:
    """All runs that wait for others."""
    try:
        notes = sorted(path for path in (data_dir(environ) / "waiting").iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return
    for note in notes:
        with suppress(FileNotFoundError):  # somebody else was faster
            value = json.loads(note.read_bytes())
            yield Sleeper(
                note=note, repo=Path(value["repo"]), task_id=value["task_id"], queued=bool(value.get("queued"))
            )


def is_ready(sleeper: Sleeper, environ: Mapping[str, str]) -> bool:
    """Whether nothing that the run waits for is still to come; what failed is a reason to go on, too: a human is asked."""
    try:
        state = load_state(tasks_folder(sleeper.repo) / sleeper.task_id)
    except AgentForgeError:
        sleeper.note.unlink(missing_ok=True)  # the run is gone
        return False
    if not state.relations.waits_for or state.progress.outcome:
        return False
    sights = [look_at(need, state, environ=environ).status for need in unmet(state)]
    return "failed" in sights or "waiting" not in sights


def _claimed(sleeper: Sleeper) -> bool:
    """Take the note away; of several processes one succeeds."""
    try:
        sleeper.note.unlink()
    except FileNotFoundError:
        return False
    return True


def _start(sleeper: Sleeper, environ: Mapping[str, str]) -> None:
    folder = data_dir(environ) / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    command = [sys.executable, "-m", "agentforge", "resume", sleeper.task_id, "--cwd", str(sleeper.repo), "--json"]
    try:
        with (folder / f"{sleeper.task_id}.log").open("ab") as out:
            subprocess.Popen(
                command,
                cwd=sleeper.repo,
                env={**os.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
    except OSError as exc:
        value = {"repo": str(sleeper.repo), "task_id": sleeper.task_id, "queued": sleeper.queued}
        sleeper.note.write_text(json.dumps(value), "utf-8")
        raise StorageError(f"{sleeper.task_id} could not be woken: {exc}", hint="agentforge resume it") from exc
