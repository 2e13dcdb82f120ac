"""What a run tells the outside while it is driven, where it is asked for, and what follows when a process lets go of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from agentforge import __version__
from agentforge.app.composition.run_result import RunResult
from agentforge.app.intake.notifications import Teller, open_desk
from agentforge.app.proof.remote_notes import with_anchor
from agentforge.app.pull_requests.request import with_pull
from agentforge.app.sync.travel import follow
from agentforge.app.tasks.dependents import tell_waiting_runs
from agentforge.app.tasks.workplace import drop_worktree
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.store.log.reader import read
from agentforge.store.log.run_log import RunLog
from agentforge.telemetry import Exporter, LogLines
from agentforge.workspace.git.repository import Git


def reach_out(log: RunLog, git: Git, outside: ExitStack, *, settings: Settings, environ: Mapping[str, str]) -> None:
    """Subscribe to a run what the settings ask for.

    Args:
        outside: closes what has to be closed when the run is left.
    Raises:
        UsageError: the settings name a remote that the repository does not have, or an extra that is not installed.
        LockedError: the run went on elsewhere in the meantime.
    """
    if settings.text("telemetry.log_format") == "json":
        log.subscribe(LogLines(sys.stderr, contents=settings.flag("telemetry.contents")))
    endpoint = settings.text("telemetry.endpoint")
    if endpoint or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        _export(log, outside, endpoint=endpoint, contents=settings.flag("telemetry.contents"))
    if settings.table("notify"):
        log.subscribe(Teller(log, open_desk(settings, environ)))
    if settings.text("fleet.remote"):
        follow(log, git, settings=settings)


def _export(log: RunLog, outside: ExitStack, *, endpoint: str, contents: bool) -> None:
    """Send spans and metrics from here on; what was recorded before is only learnt from."""
    exporter = Exporter(endpoint=endpoint, version=__version__, contents=contents)
    outside.callback(exporter.close)
    for record in read(log.folder):
        exporter.learn(record.event, record.at)
    log.subscribe(exporter)


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
