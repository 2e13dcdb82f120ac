"""What became of a delivery, in the words of the people who use it: it had to be reworked, or it had a defect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from agentforge import __version__
from agentforge.app.composition.run_result import RunResult
from agentforge.app.composition.task_queries import repository
from agentforge.app.tasks.log_heads import LEAVING_S, task_log
from agentforge.errors import ConflictError
from agentforge.events import kinds
from agentforge.store.tasks.folders import find_task


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
