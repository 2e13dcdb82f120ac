"""Which definitions a small model has written in an attempt, and which wait for a second sample that says the same. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

from agentforge.events.kinds import ToolFinished
from agentforge.events.state.run_state import Turn

WRITE_DEFINITION = "write_definition"
"""The call that tries samples of one definition and writes the best one."""
ALONE = "alone"
"""Why that call ends without a definition though a sample passed: nothing agrees with it yet."""


def written_after(turn: Turn, event: ToolFinished) -> tuple[str, ...]:
    """The names with that of the call that just ended well."""
    name = _unit(turn, event) if event.status == "success" else ""
    return tuple(dict.fromkeys([*turn.written, name])) if name else turn.written


def alone_after(turn: Turn, event: ToolFinished) -> Mapping[str, int]:
    """In how many rounds a sample of each definition passed alone; one that is written waits no longer."""
    name = _unit(turn, event)
    if not name or (event.status != "success" and event.error_type != ALONE):
        return turn.alone
    rest = {unit: rounds for unit, rounds in turn.alone.items() if unit != name}
    return rest if event.status == "success" else {**rest, name: turn.alone.get(name, 0) + 1}


def _unit(turn: Turn, event: ToolFinished) -> str:
    """The definition that the call which just ended was about; "" for any other call."""
    if event.name != WRITE_DEFINITION or event.index >= len(turn.calls):
        return ""
    arguments = json.loads(turn.calls[event.index].arguments)
    return str(arguments.get("unit", "")) if isinstance(arguments, dict) else ""
