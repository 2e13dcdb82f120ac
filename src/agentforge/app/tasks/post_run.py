"""What follows when a process lets go of a run: its anchor, its pull request, those that wait for it, what it needs no more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentforge.app.composition.run_result import RunResult
from agentforge.app.proof.remote_notes import with_anchor
from agentforge.app.pull_requests.request import with_pull
from agentforge.app.tasks.dependents import tell_waiting_runs
from agentforge.app.tasks.workplace import drop_worktree
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.workspace.git.repository import Git


def afterwards(result: RunResult, *, settings: Settings, environ: Mapping[str, str]) -> RunResult:
    """Do what a run leaves to be done; the log is closed already.

    Returns:
        The result, with the pull request when one was wanted.
    """
    state = result.state
    if state.progress.outcome == "delivered" and state.work.delivered and settings.text("proof.anchor"):
        result = with_anchor(result, Git(Path(state.identity.repo)), settings=settings)
    if state.progress.outcome == "delivered" and state.relations.pull.get("wanted"):
        result = with_pull(result, settings=settings, environ=environ)
    if state.relations.waits_for or (data_dir(environ) / "waiting").is_dir():
        tell_waiting_runs(state, environ)
    if state.progress.outcome in ("aborted", "analyzed"):
        drop_worktree(Git(Path(state.identity.repo)), state)
    return result
