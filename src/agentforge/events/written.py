"""Which definitions a small model has written in an attempt, by the calls that put them into their files. Pure."""

from __future__ import annotations

import json

from agentforge.events.kinds import ToolFinished
from agentforge.events.state import Turn

WRITE_DEFINITION = "write_definition"
"""The call that tries samples of one definition and writes the best one."""


def written_after(turn: Turn, event: ToolFinished) -> tuple[str, ...]:
    """The names with that of the call that just ended well."""
    if event.name != WRITE_DEFINITION or event.status != "success" or event.index >= len(turn.calls):
        return turn.written
    arguments = json.loads(turn.calls[event.index].arguments)
    name = str(arguments.get("unit", "")) if isinstance(arguments, dict) else ""
    return tuple(dict.fromkeys([*turn.written, name])) if name else turn.written
