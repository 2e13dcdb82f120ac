"""What becomes of a job after its run was driven: over, waiting, back into the queue, or out of it for good."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from agentforge.fleet.ledger import LONGEST_DELAY_S, Job
from agentforge.frozen import dataclass
from agentforge.store.tasks.folders import task_row

_OVER = ("delivered", "analyzed", "failed", "aborted")
_LOCKED = 8
_STORAGE = "error[storage]"
_ROOM_BYTES = 32 << 20
_UNTIL_THERE_IS_ROOM_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """Where a job goes; see fleet.ledger.Job."""

    status: str
    note: str
    crashes: int = 0
    delay_s: float = 0.0

    @property
    def rest(self) -> dict[str, Any]:
        """All but the status, as `Ledger.end` takes it."""
        return {"note": self.note, "crashes": self.crashes, "delay_s": self.delay_s}


def after_drive(job: Job, code: int, said: str, *, handed_back: bool, crashes_allowed: int) -> After:
    """Judge by the run's own log first, then by how the process ended.

    Args:
        code: exit code of the driver, negative = killed by that signal.
        said: the end of what it wrote on stderr.
        handed_back: it stopped because it was told to.
    """
    row = task_row(job.folder)
    if row.outcome in _OVER:
        return After(status="done", note=row.outcome)
    if row.outcome in ("escalated", "waiting"):
        return After(status="parked", note=row.outcome)
    if handed_back:
        return After(status="queued", note="handed back", crashes=job.crashes)
    why = said.splitlines()[-1] if said else f"signal {-code}" if code < 0 else f"exit code {code}"
    if code == _LOCKED:  # a process that is not ours drives it: no fault of the task's
        return After(status="queued", note=why, crashes=job.crashes, delay_s=2.0)
    if _STORAGE in said:  # this worker's disk: no fault of the task's either
        return After(status="queued", note=why, crashes=job.crashes, delay_s=_UNTIL_THERE_IS_ROOM_S)
    return after_drive_failed(job, why, crashes_allowed=crashes_allowed)


def after_drive_failed(job: Job, why: str, *, crashes_allowed: int) -> After:
    """Where a job goes whose driving ended badly: back into the queue for a while, or out of it after the last time."""
    crashes = job.crashes + 1
    if crashes >= crashes_allowed:
        return After(status="quarantined", note=f"ended badly {crashes} times in a row: {why}", crashes=crashes)
    return After(status="queued", note=why, crashes=crashes, delay_s=min(LONGEST_DELAY_S, 2.0**crashes))


def after_loss(job: Job, crashes: int, *, crashes_allowed: int) -> After:
    """Where a job goes whose worker was not heard of any more."""
    if crashes >= crashes_allowed:
        note = f"ended badly {crashes} times in a row: worker {job.worker} was lost"
        return After(status="quarantined", note=note, crashes=crashes)
    return After(status="queued", note=f"worker {job.worker} was lost", crashes=crashes)


def without_room(job: Job, *places: Path) -> After | None:
    """Back into the queue with a job that this machine has no room or no repository for; None when there is both.

    Args:
        places: folders that are written beside the job's repository.
    """
    here = os.uname().nodename
    if not Path(job.repo).is_dir():
        note = f"{job.repo} is not on {here}: it was moved, or another machine has it"
        return After(status="queued", note=note, crashes=job.crashes, delay_s=_UNTIL_THERE_IS_ROOM_S)
    for place in (Path(job.repo), *places):
        if not place.is_dir():
            continue
        free = shutil.disk_usage(place).free
        if free < _ROOM_BYTES:
            note = f"the disk of {place} has {free >> 20} MiB left on {here}"
            return After(status="queued", note=note, crashes=job.crashes, delay_s=_UNTIL_THERE_IS_ROOM_S)
    return None
