"""The last word of a person on a task: it is ended for good before it is delivered, or marked by what became of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from agentforge import __version__
from agentforge.app.composition.run_result import RunResult
from agentforge.app.composition.task_queries import repository
from agentforge.app.sync.travel import shared
from agentforge.app.tasks.dependents import tell_waiting_runs
from agentforge.app.tasks.log_heads import LEAVING_S, task_log
from agentforge.app.tasks.workplace import drop_worktree
from agentforge.config.settings import Settings
from agentforge.errors import ConflictError
from agentforge.events import kinds
from agentforge.store.tasks.folders import find_task
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.orphans import end_orphans


def abort(
    cwd: Path,
    task_id: str,
    *,
    reason: str = "",
    settings: Settings | None = None,
    environ: Mapping[str, str] | None = None,
) -> RunResult:
    """End a task for good; its questions are closed, its trail stays, its worktree goes, and those who wait for it are told.

    Raises:
        LockedError: another process drives it (stop that one first).
        ConflictError: it is over already.
    """
    place = os.environ if environ is None else environ
    with task_log(find_task(repository(cwd), task_id)[1], place, leaving_s=LEAVING_S) as log:
        if log.state.progress.outcome:
            raise ConflictError(f"{log.state.identity.run_id} has ended: {log.state.progress.outcome}")
        message = reason or "aborted by the user"
        by = place.get("USER") or place.get("LOGNAME") or "user"
        with shared(log, settings):
            for item in log.state.people.open_escalations:
                log.append(
                    kinds.EscalationResolved(escalation_id=item.escalation_id, decision="abort", text=message, by=by)
                )
            log.append(kinds.RunFinished(outcome="aborted", error={"slug": "aborted", "message": message, "hint": ""}))
        if log.state.identity.worktree:
            end_orphans(Path(log.state.identity.worktree))
        drop_worktree(Git(log.folder.parents[2]), log.state)
        result = RunResult(state=log.state, folder=log.folder, head=log.head, records=log.length)
    tell_waiting_runs(result.state, place)
    return result


def mark(
    cwd: Path,
    task_id: str,
    word: Literal["rework", "defect"],
    *,
    environ: Mapping[str, str],
    note: str = "",
    by: str = "user",
) -> RunResult:
    """Record a mark at the end of a delivered run's log.

    Raises:
        ConflictError: it was not delivered.
        LockedError: a process drives it.
        IntegrityError: its log is not what was written.
    """
    with task_log(find_task(repository(cwd), task_id)[1], environ, leaving_s=LEAVING_S) as log:
        if log.state.progress.outcome != "delivered":
            raise ConflictError(
                f"{log.state.identity.run_id} was not delivered",
                hint="only what was delivered can need rework or have a defect",
            )
        log.append(kinds.RunMarked(mark=word, note=note, by=by, program=__version__))
        return RunResult(state=log.state, folder=log.folder, head=log.head, records=log.length)
