"""The mark that says how far the views of a run are, which program wrote them, and what they were when it let go of the run.

Another program may write the same views in other words; by the mark they are known unaltered all the same. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from agentforge import __version__
from agentforge.canonical import canonical_bytes, digest_bytes, digest_value

MARK = "views.json"
WRITER, SEAL = "writer", "seal"
VIEWS = "views"
"""Among the versions that a record holds: the format of the views that its program writes."""

_FORMAT = 2
"""To be raised when the same records give other views."""


def views_format() -> str:
    """The format of the views that this program writes."""
    return str(_FORMAT)


def views_writer(version: str = __version__) -> str:
    """How a program names itself in the mark."""
    return f"agentforge {version}, views {_FORMAT}"


def writers_of(versions: Sequence[Mapping[str, object]], programs: Iterable[str]) -> set[str]:
    """How the programs that wrote records name themselves in a mark; one that did not say which views it writes by the beginning.

    Args:
        versions: of what drove the run, as the records have them.
        programs: versions of what wrote single records.
    """
    full = {f"agentforge {row['agentforge']}, views {row[VIEWS]}" for row in versions if row.get(VIEWS)}
    begun = {
        f"agentforge {row['agentforge']}, views " for row in versions if row.get("agentforge") and not row.get(VIEWS)
    }
    begins = {f"agentforge {name}, views " for name in programs}
    begun |= {begin for begin in begins if not any(name.startswith(begin) for name in full)}
    return full | begun


def is_writer(writer: str, writers: Iterable[str]) -> bool:
    """Whether the writer that a mark names is among those of `writers_of`."""
    return any(writer == name or (name.endswith(" ") and writer.startswith(name)) for name in writers)


def views_seal(views: Mapping[str, bytes], mark: Mapping[str, object]) -> str:
    """One digest over the names and contents of all views and over what else the mark says."""
    rest = {name: value for name, value in mark.items() if name != SEAL}
    return str(digest_value({"mark": rest, "views": {name: digest_bytes(content) for name, content in views.items()}}))


def mark_bytes(mark: Mapping[str, object]) -> bytes:
    """The file that holds a mark."""
    return canonical_bytes(dict(mark)) + b"\n"


def read_mark(data: bytes) -> dict[str, object] | None:
    """The mark in a file; None when it is none."""
    try:
        mark = json.loads(data)
    except ValueError:
        return None
    return mark if isinstance(mark, dict) and isinstance(mark.get("head"), str) else None
