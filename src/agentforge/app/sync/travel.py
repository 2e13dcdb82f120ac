"""A run that travels: pushed to the repository's remote while it is driven, and brought to another machine from there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.config.settings import Settings
from agentforge.errors import LockedError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.safety.text.redaction import hidden_keys
from agentforge.store.log.run_log import RunLog
from agentforge.workspace.git.remotes import push, require_remote
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.runtree import commit_run
from agentforge.workspace.git.snapshots import snapshot_ref

if TYPE_CHECKING:
    pass

_BOUNDARIES = (kinds.RunStarted, kinds.StagePassed)
_ALWAYS = (kinds.EscalationRaised, kinds.RunInterrupted, kinds.RunFinished, kinds.Delivered)
_FIRST_PAUSE_S = 30.0
_LONGEST_PAUSE_S = 300.0


def follow(log: RunLog, git: Git, *, settings: Settings) -> Traveller:
    """Let a run travel while it is driven, if the settings name a remote.

    Raises:
        UsageError: the repository has no such remote.
        LockedError: the run went on elsewhere in the meantime.
    Side effects: the run is pushed now, and then at every boundary of a stage and before every wait.
    """
    remote = settings.text("fleet.remote")
    require_remote(git.command, remote)
    traveller = Traveller(log, git, remote=remote)
    traveller.share(log.state)
    log.subscribe(traveller)
    return traveller


@contextmanager
def shared(log: RunLog, settings: Settings | None) -> Iterator[None]:
    """Around records that are made while nobody drives the run: an answer, an end. Pushed where the settings name a remote.

    Raises:
        LockedError: the run went on elsewhere in the meantime; nothing was recorded here.
    """
    if settings is None or not settings.text("fleet.remote"):
        yield
        return
    traveller = follow(
        log, Git(log.folder.parents[2]), settings=settings
    )  # the log may still name another machine's place
    yield
    traveller.share(log.state)


class Traveller:
    """Pushes one run at its boundaries. A remote that is away stops nothing; a remote that is ahead stops the run.

    Args:
        clock: seconds, monotonic: how long a remote that did not answer is left alone.
    """

    def __init__(self, log: RunLog, git: Git, *, remote: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._git = git
        self._remote = remote
        self._clock = clock
        self._failed = False
        self._pause_s = _FIRST_PAUSE_S
        self._not_before = 0.0

    def __call__(self, event: Event, state: RunState) -> None:
        """Push after what others may go on from.

        Raises:
            LockedError: the run went on elsewhere in the meantime.
        """
        due = isinstance(event, _BOUNDARIES) and self._clock() >= self._not_before
        if due or isinstance(event, _ALWAYS):
            self.share(state)

    def share(self, state: RunState) -> None:
        """Push the run as it stands.

        Raises:
            LockedError: another machine pushed first; this one has to stop.
        Side effects: a record when the remote is lost or found again.
        """
        commit, run_id = _committed(state, self._git, self._log.folder), state.identity.run_id
        done = push(self._git.command, self._remote, commit=commit, ref=snapshot_ref(run_id))
        if done.outcome == "overtaken":
            raise LockedError(
                f"{run_id} was continued on another machine: {self._remote} holds records that this machine does not have",
                hint=f"this copy stops; bring the other one with: agentforge fetch {run_id}",
            )
        self._note(error=hidden_keys(done.reason, os.environ)[:500] if done.outcome == "failed" else "", commit=commit)

    def _note(self, *, error: str, commit: str) -> None:
        """Remember how it went, and record a change."""
        changed = bool(error) != self._failed
        self._failed = bool(error)
        if error:
            self._not_before = self._clock() + self._pause_s
            self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)
        else:
            self._not_before, self._pause_s = 0.0, _FIRST_PAUSE_S
        if changed:
            self._log.append(kinds.RunShared(remote=self._remote, commit="" if error else commit, error=error))


def _committed(state: RunState, git: Git, folder: Path) -> str:
    delivered = str((state.work.delivered or {}).get("commit", ""))
    index = folder.parents[1] / "cache" / f"{state.identity.run_id}.index"
    return commit_run(
        git,
        state.identity.run_id,
        folder,
        base=state.identity.base_commit,
        delivered=delivered,
        when=state.progress.last_at,
        index=index,
    )
