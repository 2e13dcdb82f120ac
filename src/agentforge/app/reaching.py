"""What a run tells the outside while it is driven, each only when it is asked for: its remote, people, telemetry."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.config.settings import Settings
    from agentforge.store.log import RunLog
    from agentforge.workspace.git import Git


def reach_out(log: RunLog, git: Git, outside: ExitStack, *, settings: Settings, environ: Mapping[str, str]) -> None:
    """Subscribe to a run what the settings ask for.

    Args:
        outside: closes what has to be closed when the run is left.
    Raises:
        UsageError: the settings name a remote that the repository does not have, or an extra that is not installed.
        LockedError: the run went on elsewhere in the meantime.
    """
    if settings.text("fleet.remote"):
        from agentforge.app.travelling import follow

        follow(log, git, settings=settings)
