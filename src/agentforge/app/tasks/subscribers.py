"""What a run tells the outside while it is driven, each only when it is asked for: its remote, people, telemetry."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack

from agentforge import __version__
from agentforge.app.intake.notifications import Teller, open_desk
from agentforge.app.sync.travel import follow
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
