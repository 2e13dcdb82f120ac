"""What the model has seen of the workspace: the parts of files that it asked for, and which of them it still knows. Pure."""

from __future__ import annotations

from agentforge.events import kinds
from agentforge.events.kinds import Json
from agentforge.events.state.run_state import VIEWS_KEPT, Turn

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
