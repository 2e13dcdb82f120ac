"""A run that passes a stage wakes the runs that wait for that stage; nothing more is loaded where nobody waits."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.config.paths import data_dir
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.store.log.run_log import RunLog


def wake_on_the_way(log: RunLog, environ: Mapping[str, str]) -> None:
    """Let the runs that wait for a stage of this one go on before its end."""

    waiting = data_dir(environ) / "waiting"

    def watch(event: kinds.Event, _state: RunState) -> None:
        if isinstance(event, kinds.StagePassed) and waiting.is_dir():
            from agentforge.app.tasks.dependents import wake

            wake(environ)

    log.subscribe(watch)
