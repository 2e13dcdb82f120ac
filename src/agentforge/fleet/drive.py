"""Drives one run in a process of its own, for a worker: `python -m agentforge.fleet.drive REPOSITORY TASK`.

It ends with its worker, and on SIGTERM after the step that is under way.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from agentforge.app.composition.run_result import RunResult, exit_code
from agentforge.app.sync.fetch import fetch_newer
from agentforge.app.tasks.limit_changes import GivenLimits
from agentforge.app.tasks.runs import resume
from agentforge.config.dotenv import merged_environment
from agentforge.config.settings import load
from agentforge.errors import AgentForgeError
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.fleet.rates import limiter_of

_PR_SET_PDEATHSIG = 1
_STOPS_AFTER = (kinds.StepFinished, kinds.StagePassed, kinds.StageVerified, kinds.FactsGathered)


class HandedBack(AgentForgeError):
    """The worker stops; the run goes on elsewhere."""

    slug = "handed-back"
    exit_code = 75


class Driver:
    """One run, which can be asked to stop between two steps."""

    def __init__(self) -> None:
        self._stopping = False

    def stop(self, _number: int, _frame: object) -> None:
        """Stop after the step that is under way."""
        self._stopping = True

    def watch(self, event: kinds.Event, _state: RunState) -> None:
        """Hand the run back when that was asked for.

        Raises:
            HandedBack: at the end of a step.
        """
        if self._stopping and isinstance(event, _STOPS_AFTER):
            self._stopping = False
            raise HandedBack("the worker was told to stop", hint="the queue goes on with the run")

    def drive(
        self, repo: Path, task_id: str, environ: Mapping[str, str], *, limits: GivenLimits | None = None
    ) -> RunResult:
        """Go on with a run until it ends or waits; `limits` are those that hold from now on."""
        settings = load(repo, environ)
        fetch_newer(repo, task_id, settings=settings)  # another machine may have driven it before
        limiter = limiter_of(settings, environ)
        return resume(
            repo, task_id, settings=settings, environ=environ, watch=self.watch, limiter=limiter, limits=limits
        )


def main(arguments: list[str]) -> int:
    """Drive the run that the arguments name: repository, task, the process above, and limits as JSON where there are any.

    Returns:
        The exit code of the run.
    """
    die_with_parent(int(arguments[2]))
    driver = Driver()
    signal.signal(signal.SIGTERM, driver.stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the worker's terminal is the worker's to hand on
    try:
        limits = json.loads(arguments[3]) if len(arguments) > 3 else None
        result = driver.drive(Path(arguments[0]), arguments[1], merged_environment(os.environ), limits=limits)
    except AgentForgeError as exc:
        sys.stderr.write(f"error[{exc.slug}]: {exc}\n")
        return exc.exit_code
    if result.error is not None:
        sys.stderr.write(f"error[{result.error.slug}]: {result.error}\n")
        return result.error.exit_code
    return exit_code(result)


def die_with_parent(parent: int) -> None:
    """A worker that is killed takes its runs with it: the kernel sees to that."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit(1)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
