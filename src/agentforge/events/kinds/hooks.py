"""The event of a hook; kinds.py names it with all others."""

from __future__ import annotations

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFinished(Event):
    """One of the user's hooks was run, or was not and why.

    Attributes:
        verdict: pass | allow | ask | deny | failed | not_run.
        tool: the tool that it was asked about, "" for the other triggers.
        exit_code: None when it could not be started.
        rewrote: it changed the arguments of the call.
        failure_mode: what its failure leads to: block | warn | ignore; "" when it did not fail.
        origin: the settings file that it stands in.
    """

    name: str
    trigger: str
    verdict: str
    reason: str = ""
    tool: str = ""
    exit_code: int | None = None
    rewrote: bool = False
    failure_mode: str = ""
    origin: str = ""
    duration_ms: int = 0
