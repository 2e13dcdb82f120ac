"""Making room at the remote: refs of runs that are over, that are old, and that this machine has whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sync.retention import Collected, Removal, age_s
from agentforge.errors import AgentForgeError, ToolchainError
from agentforge.store.log.reader import LOG, load_state
from agentforge.store.tasks.folders import tasks_folder
from agentforge.workspace.git.remotes import delete_ref, remote_commits, require_remote
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.snapshots import snapshot_ref

if TYPE_CHECKING:
    pass
    pass

OLD_S = 30 * 86_400.0
"""What counts as old where nothing else is said: 30 days."""

_REFS = "refs/agentforge/runs/"


def collect_remote(cwd: Path, *, remote: str, older_than_s: float | None = None, dry_run: bool = False) -> Collected:
    """Remove the refs of runs at a remote that nobody goes on with: every push and fetch reads the list of refs.

    A ref goes when this machine has the run with all its records, the run is over, and its last record is old. Everything
    else stays, with the reason. Branches stay.

    Args:
        older_than_s: age of the last record; None = `OLD_S`.
        dry_run: only tell.
    Raises:
        UsageError: there is no such remote.
        ToolchainError: it does not answer.
    """
    git = Git.open(cwd)
    require_remote(git.command, remote)
    removed: list[Removal] = []
    kept: list[tuple[str, str]] = []
    for ref, commit in remote_commits(git.command, remote, f"{_REFS}*").items():
        task = ref.removeprefix(_REFS)
        reason = _needed(git, task, commit, older_than_s=OLD_S if older_than_s is None else older_than_s)
        if not reason and not dry_run:
            try:
                reason = delete_ref(git.command, remote, ref=ref, commit=commit)
            except ToolchainError as exc:
                reason = exc.message
        if reason:
            kept.append((task, f"at {remote}: {reason}"))
        else:
            told = "the run is over, and this machine has it whole"
            removed.append(Removal(kind="remote", name=task, path=git.top, size_bytes=0, reason=f"at {remote}: {told}"))
    return Collected(removed=tuple(removed), kept=tuple(kept))


def _needed(git: Git, task: str, commit: str, *, older_than_s: float) -> str:
    """Why a ref has to stay, "" when it may go."""
    folder = tasks_folder(git.top) / task
    if not (folder / LOG).is_file():
        return f"this machine does not have the run: agentforge fetch {task}"
    try:
        state = load_state(folder)
    except AgentForgeError as exc:
        return f"the copy of this machine is damaged: {exc.message}"
    here = git.command.run("rev-parse", "--verify", "--quiet", snapshot_ref(task)).text.strip()
    if here != commit:
        return f"it holds another state than this machine: agentforge fetch {task}"
    if not state.progress.outcome:
        return "the run is not over"
    if age_s(state) <= older_than_s:
        return f"its last record is {int(age_s(state))} s old"
    return ""
