"""Bringing a run from a remote: checked before it is believed, and never over what this machine alone has."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentforge.app.tasks.log_heads import drop_head
from agentforge.app.tasks.workplace import drop_worktree
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, IntegrityError, ToolchainError, UsageError
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.store.blobs import Blobs
from agentforge.store.log.lease import Lease
from agentforge.store.log.reader import LOG, fold
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.tasks.folders import ensure_agentforge_folder, find_task, tasks_folder
from agentforge.workspace.git import remotes
from agentforge.workspace.git.remotes import remote_commit, remote_names, remote_refs, require_remote
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.runtree import unpack_run
from agentforge.workspace.git.snapshots import snapshot_ref

if TYPE_CHECKING:
    pass

_REFS = "refs/agentforge/runs/"
_INCOMING = "refs/agentforge/incoming/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A run that was looked for at a remote.

    Attributes:
        outcome: "new"; "advanced" = it went on elsewhere; "replaced" = both went on, and this machine's copy lies in
            `aside` now; "ahead" = this machine has all of it, and more or the same; "refused" = see `error`.
        standing: the run's outcome, "" while it is not over.
    """

    task_id: str
    outcome: Literal["new", "advanced", "replaced", "ahead", "refused"]
    records: int = 0
    standing: str = ""
    aside: str = ""
    error: str = ""


def fetch_all(cwd: Path, *, remote: str) -> list[Fetched]:
    """Bring every run of the remote; one that cannot be believed is named and left out.

    Raises:
        UsageError: no such remote.
        ToolchainError: it does not answer.
    """
    git = _opened(cwd, remote)
    found = []
    for task in _tasks_at(git, remote):
        try:
            found.append(_fetched(git, task, remote=remote))
        except AgentForgeError as exc:
            found.append(Fetched(task_id=task, outcome="refused", error=str(exc)))
    return found


def fetch(cwd: Path, text: str, *, remote: str) -> Fetched:
    """Bring one run.

    Args:
        text: its id, or a beginning of it that fits one only.
    Raises:
        UsageError: no such remote, or no such run there.
        ToolchainError: the remote does not answer.
        IntegrityError: what it holds is no whole run.
        LockedError: a process of this machine drives the run.
    """
    git = _opened(cwd, remote)
    known = _tasks_at(git, remote)
    fitting = [text] if text in known else [task for task in known if text and task.startswith(text)]
    if len(fitting) != 1:
        some = ", ".join(known[:5]) or "none"
        word = "no run" if not fitting else f"{len(fitting)} runs"
        raise UsageError(f"{remote} has {word} called {text!r}", hint=f"there are: {some}")
    return _fetched(git, fitting[0], remote=remote)


def fetch_newer(cwd: Path, text: str, *, settings: Settings) -> Fetched | None:
    """Bring a run that is not here, or that went on elsewhere; a copy that has records of its own is left as it is.

    Asks the remote of `fleet.remote`; for a run that is not here, where that is not set, `origin`.

    Args:
        text: the run's id, or a beginning of it that fits one only.
    Returns:
        What was brought; None when there was nothing to bring, or the remote is away and the run is here.
    Raises:
        UsageError: the run is neither here nor there.
        ToolchainError: the run is not here, and the remote does not answer.
        IntegrityError: what the remote holds is no whole run.
    """
    git, wanted = Git.open(cwd), settings.text("fleet.remote")
    try:
        task = find_task(git.top, text)[0]
    except UsageError:
        remote = wanted or "origin"
        if remote not in remote_names(git.command):
            raise
        return fetch(cwd, text, remote=remote)
    if not wanted:
        return None
    try:
        there = remote_commit(git.command, wanted, snapshot_ref(task))
        here = git.command.run("rev-parse", "--verify", "--quiet", snapshot_ref(task)).text.strip()
        if there in ("", here):
            return None
        found = _fetched(git, task, remote=wanted, keeps=True)
    except ToolchainError:
        return None  # the run goes on, and says itself that its remote is away
    return found if found.outcome == "advanced" else None


def _opened(cwd: Path, remote: str) -> Git:
    git = Git.open(cwd)
    require_remote(git.command, remote)
    return git


def _tasks_at(git: Git, remote: str) -> list[str]:
    names = [name.removeprefix(_REFS) for name in remote_refs(git.command, remote, f"{_REFS}*")]
    return [name for name in names if "/" not in name]


def _fetched(git: Git, task: str, *, remote: str, keeps: bool = False) -> Fetched:
    """Bring a run; with `keeps`, a copy of this machine that has records of its own stays where it is."""
    incoming = f"{_INCOMING}{task}"
    remotes.fetch(git.command, remote, ref=f"{_REFS}{task}", into=incoming)
    commit = git.resolve(incoming)
    cache = ensure_agentforge_folder(git.top) / "cache"
    try:
        with _emptied(cache / f"incoming-{task}-{os.getpid()}") as folder:
            unpack_run(git, commit, folder)
            return _settled(git, task, folder, commit=commit, keeps=keeps)
    finally:
        git.command.output("update-ref", "-d", incoming)


@contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _settled(git: Git, task: str, folder: Path, *, commit: str, keeps: bool) -> Fetched:
    """Check what came and put it in its place."""
    came = fold(folder)
    _check_believable(came.state, task, folder=folder)
    place = tasks_folder(git.top) / task
    outcome: Literal["new", "advanced", "replaced", "ahead"] = "new"
    aside = ""
    if place.exists():
        theirs, ours = (folder / LOG).read_bytes(), (place / LOG).read_bytes()
        outcome = "ahead" if ours.startswith(theirs) else "advanced" if theirs.startswith(ours) else "replaced"
    if outcome == "replaced" and keeps:
        return Fetched(task_id=task, outcome="ahead")
    if outcome in ("advanced", "replaced"):
        aside = _set_aside(git, place, keep=outcome == "replaced")
    if outcome in ("new", "replaced"):  # what was seen here was another run's log, or the copy that is set aside
        drop_head(os.environ, place)
    if outcome != "ahead":
        RunLog.open(folder, clock=utc_now).close()  # makes the views anew
        folder.rename(place)
        git.update_ref(snapshot_ref(task), commit)
    _bring_branch(git, came.state)
    return Fetched(
        task_id=task, outcome=outcome, records=came.length, standing=came.state.progress.outcome or "", aside=aside
    )


def _check_believable(state: RunState, task: str, *, folder: Path) -> None:
    """The chain held when the log was folded; the rest is that blobs are what they are called and places are ours.

    Raises:
        IntegrityError: they are not.
    """
    if state.identity.run_id != task or state.identity.kind != "task":
        raise IntegrityError(f"the run at {_REFS}{task} calls itself {state.identity.run_id!r}", hint="do not trust it")
    blobs = Blobs(folder / "blobs")
    for path in (folder / "blobs").glob("*/*"):
        blobs.get(path.parent.name + path.name.removesuffix(".z"))
    place = Path(state.identity.worktree)
    if place.exists() and (place.name, place.parent.parent.name) != (task, "worktrees"):
        raise IntegrityError(
            f"the run {task} works in {state.identity.worktree}, which is a folder of this machine's and not its own",
            hint="remove that folder if it is a left-over",
        )


def _set_aside(git: Git, place: Path, *, keep: bool) -> str:
    """Move this machine's copy and its worktree out of the way; returns where a copy that has records of its own lies.

    Raises:
        LockedError: a process drives it.
    """
    lease = Lease.take(place, since=utc_now())
    try:
        ours = fold(place)
        aside = place.parents[1] / "cache" / f"superseded-{place.name}-{ours.head[:12]}"
        shutil.rmtree(aside, ignore_errors=True)
        drop_worktree(git, ours.state)
        place.rename(aside)
    finally:
        lease.release()
    if keep:
        return str(aside)
    shutil.rmtree(aside)
    return ""


def _bring_branch(git: Git, state: RunState) -> None:
    """Let the delivered branch stand here, too; one that stands already is left as it is."""
    commit = str((state.work.delivered or {}).get("commit", ""))
    if commit and state.identity.branch and not git.branch_exists(state.identity.branch):
        git.create_branch(state.identity.branch, commit)
