"""What CI says of a delivered commit: asked for that commit and no other, as often as need be, and never a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentforge.app.pull_requests.place import delivered_commit, deliveries, find_way, tip_at
from agentforge.forges.forge import standing
from agentforge.frozen import dataclass
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    from agentforge.config.settings import Settings
    from agentforge.forges.forge import CiCheck

_FIRST_PAUSE_S = 5.0
_LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CiResult:
    """What CI says of one commit.

    Attributes:
        commit: the delivered one, whatever the branch stands on by now.
        tip: the commit that the branch stands on at the remote.
        standing: "none" = nobody has reported anything.
    """

    task_id: str
    commit: str
    tip: str
    standing: Literal["passed", "failed", "pending", "none"]
    checks: tuple[CiCheck, ...]


def ci_result(
    cwd: Path,
    task_id: str,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    remote: str = "",
    wait_s: float = 0.0,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> CiResult:
    """Ask what CI says of the last delivery on a task's branch.

    Args:
        wait_s: seconds to go on asking while jobs run, or while nobody has reported.
        pause: waits for seconds.
    Raises:
        ConflictError: nothing was delivered.
        UsageError: the branch was never pushed.
        ForgeError: the forge cannot be asked.
    """

    last = deliveries(cwd, task_id)[-1]
    git = Git.open(cwd)
    way = find_way(git, settings=settings, environ=environ, remote=remote)
    commit, tip = delivered_commit(last), tip_at(git, way, last.state.branch)
    end, wait = clock() + wait_s, _FIRST_PAUSE_S
    checks = way.forge.checks(commit)
    while standing(checks) in ("pending", "none") and (left := end - clock()) > 0:
        pause(min(wait, left))
        wait = min(2 * wait, _LONGEST_PAUSE_S)
        checks = way.forge.checks(commit)
    return CiResult(task_id=last.state.run_id, commit=commit, tip=tip, standing=standing(checks), checks=tuple(checks))
