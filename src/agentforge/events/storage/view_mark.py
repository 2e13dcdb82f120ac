"""The mark that says how far the views of a run are, which program wrote them, and what they were when it let go of the run.

Another program may write the same views in other words; by the mark they are known unaltered all the same. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from agentforge import __version__
from agentforge.canonical import canonical_bytes, digest_bytes, digest_value

MARK = "views.json"
WRITER, SEAL = "writer", "seal"

_FORMAT = 2
"""To be raised when the same records give other views."""


def views_writer(version: str = __version__) -> str:
    """How a program names itself in the mark."""
    return f"agentforge {version}, views {_FORMAT}"


def is_version(writer: str, version: str) -> bool:
    """Whether a program of that version names itself so, whatever its format of views."""
    return writer.startswith(f"agentforge {version}, views ")


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
