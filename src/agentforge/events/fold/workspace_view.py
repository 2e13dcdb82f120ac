"""What a model knows of the workspace: what it has seen and written, and where text that nobody vouches for came in. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase

from agentforge.events import kinds
from agentforge.events.kinds import Json, ToolFinished
from agentforge.events.state.attempt import VIEWS_KEPT, Turn

_END_OF_FILE = 1 << 40


def seen_after(turn: Turn, event: kinds.ToolFinished) -> Json:
    """What the model wrote it has seen; what a command made of a file it has not."""
    if (turn.started_event or {}).get("effect") == "execute":
        return turn.seen
    return {path: event.changed.get(path, digest) for path, digest in turn.seen.items()}


def views_with(known: tuple[tuple[str, Json], ...], new: Json | None) -> tuple[tuple[str, Json], ...]:
    """Add a part of a file; parts that lie within it need not be shown twice."""
    if new is None:
        return known
    path, (first, end) = str(new.get("path", "")), _lines(new)
    left = (item for item in known if item[0] != path or not first <= _lines(item[1])[0] <= _lines(item[1])[1] <= end)
    return (*left, (path, new))[-VIEWS_KEPT:]


def _lines(view: Json) -> tuple[int, int]:
    """First line of a view, and the line after its last."""
    first, limit = view.get("offset"), view.get("limit")
    start = first if isinstance(first, int) else 1
    return start, start + limit if isinstance(limit, int) else _END_OF_FILE


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


REPOSITORY = "repository"

_SOURCES = (
    ("web_*", "web"),
    ("subagent_*", "subagent"),
    ("browser", "web"),
    ("*__*", "mcp"),
    ("mcp_*", "mcp"),
    ("shell", "command output"),
    ("jobs", "command output"),
    ("run_tests", "test output"),
    ("run_checks", "checker output"),
)
_OWN_WORDS = frozenset(
    {
        *("write_file", "append_file", "edit", "apply_patch", "move_file", "refactor"),
        *("submit_artifact", "submit_plan", "ask_human", "todos", "memory"),
    }
)


def source_of(tool: str) -> str:
    """Name the kind of text that a tool shows to the model, "" when it only repeats the model's own words.

    A tool that is not known reads the repository, or worse.
    """
    if tool in _OWN_WORDS:
        return ""
    return next((source for pattern, source in _SOURCES if fnmatchcase(tool, pattern)), REPOSITORY)


def with_source(known: tuple[str, ...], source: str) -> tuple[str, ...]:
    """Add a source; the same tuple when there is nothing new."""
    return known if not source or source in known else tuple(sorted((*known, source)))
