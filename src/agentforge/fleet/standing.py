"""What becomes of a job after its run was driven: over, waiting, back into the queue, or out of it for good."""

from __future__ import annotations

from agentforge.fleet.ledger import Job
from agentforge.frozen import dataclass
from agentforge.store.tasks import task_row

_LONGEST_DELAY_S = 300.0
_OVER = ("delivered", "analyzed", "failed", "aborted")
_LOCKED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """Where a job goes; see fleet.ledger.Job."""

    status: str
    note: str
    crashes: int = 0
    delay_s: float = 0.0


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
    crashes = job.crashes + 1
    why = said.splitlines()[-1] if said else f"signal {-code}" if code < 0 else f"exit code {code}"
    if code == _LOCKED:  # a process that is not ours drives it: no fault of the task's
        return After(status="queued", note=why, crashes=job.crashes, delay_s=2.0)
    if crashes >= crashes_allowed:
        return After(status="quarantined", note=f"ended badly {crashes} times: {why}", crashes=crashes)
    return After(status="queued", note=why, crashes=crashes, delay_s=min(_LONGEST_DELAY_S, 2.0**crashes))
