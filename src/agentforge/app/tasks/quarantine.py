"""A run whose driving ends badly again and again: a human is asked in its own log, and people are told."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from agentforge.app.intake.notifications import Teller, open_desk
from agentforge.app.tasks.log_heads import task_log
from agentforge.config.settings import Settings
from agentforge.errors import LockedError
from agentforge.events import kinds
from agentforge.store.log.reader import load_state
from agentforge.store.log.run_log import RunLog

_KEY = "quarantine"


def ask_about(folder: Path, why: str, *, times: int, settings: Settings, environ: Mapping[str, str]) -> bool:
    """Ask in a run's log how it should go on.

    Args:
        why: how its driving ended, in words that follow on "driving it": "ended badly 3 times in a row: signal 9".
        times: how often in a row that happened.
    Returns:
        Whether it asks now; a run that is over, waits for a human already or is driven by somebody does not.
    Raises:
        AgentForgeError: the log cannot be read or written.
    Side effects: a record, and messages to people where the settings want them.
    """
    with ExitStack() as opened:
        try:
            log = opened.enter_context(task_log(folder, environ))
        except LockedError:
            return False
        state = log.state
        if state.progress.outcome or state.people.open_escalations:
            return False
        _let_people_know(log, settings, environ)
        log.append(
            kinds.EscalationRaised(
                escalation_id=f"E{len(state.people.escalations) + 1}",
                stage="",
                kind="stuck",
                reason=f"work on this task {why}",
                question="The queue has set this task aside, so that it ends no more workers. Find out why that happens "
                "(memory, disk, a command that kills its parent). Then answer `again`, or abort the task.",
                options=("again",),
                context={_KEY: times},
            )
        )
    return True


def question_about(folder: Path) -> Literal["none", "open", "answered"]:
    """How the last question about a run that was set aside stands; `open` also where the run is over or asks something else.

    Raises:
        AgentForgeError: the log cannot be read.
    """
    state = load_state(folder)
    asked = [item for item in state.people.escalations.values() if _KEY in item.context]
    if asked and asked[-1].resolution is not None:
        return "answered"
    return "open" if asked or state.progress.outcome or state.people.open_escalations else "none"


def _let_people_know(log: RunLog, settings: Settings, environ: Mapping[str, str]) -> None:
    if settings.table("notify"):
        log.subscribe(Teller(log, open_desk(settings, environ)))
