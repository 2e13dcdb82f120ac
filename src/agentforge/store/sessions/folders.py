"""Where sessions live in the data directory: the run of each, and the files that other programs read.

runs/<session_id>/                       the truth: events.jsonl, blobs/
sessions/<session_id>.json               view: the session's snapshot (schema_version 1)
events/<session_id>.jsonl                view: one line per event of the agent
checkpoints/<session_id>_<time>.json     view: a snapshot per checkpoint
"""

from __future__ import annotations

import os
from pathlib import Path

from agentforge.errors import UsageError
from agentforge.store.log.files import make_folder
from agentforge.store.log.reader import LOG
from agentforge.workspace.files.file_access import remove_tree


def new_session_id() -> str:
    """Name a new session: a random UUID."""
    number = (int.from_bytes(os.urandom(16)) & ~(0xF << 76 | 0x3 << 62)) | (0x4 << 76 | 0x2 << 62)
    digits = f"{number:032x}"  # as uuid.uuid4 would make it, without the price of that module
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def run_folder(data: Path, session_id: str) -> Path:
    """Where the log of a session (or of a subagent) is."""
    return data / "runs" / session_id


def make_run_folder(data: Path, session_id: str) -> Path:
    """Make the folder of a run, readable by its owner alone."""
    folder = run_folder(data, session_id)
    make_folder(folder)
    (data / "runs").chmod(0o700)
    folder.chmod(0o700)
    return folder


def session_ids(data: Path) -> list[str]:
    """All sessions that have a log, in no order."""
    return [path.parent.name for path in (data / "runs").glob(f"*/{LOG}")]


def find_session(data: Path, text: str) -> str:
    """Turn an id, or the beginning of one, into the id of a session.

    Raises:
        UsageError: none, or several, are called so.
    """
    known = session_ids(data)
    found = [name for name in known if name.startswith(text)] if text else []
    if text in known:
        return text
    if len(found) == 1:
        return found[0]
    what = "several sessions begin with" if found else "there is no session"
    raise UsageError(f"{what} {text!r}", hint="`agentforge sessions` lists them")


def forget(folder: Path) -> None:
    """Remove the run folder of a session, and what was written of it for other programs; its log is closed."""
    data = folder.parent.parent
    remove_tree(folder)
    for place, ending in (("sessions", "json"), ("events", "jsonl")):
        (data / place / f"{folder.name}.{ending}").unlink(missing_ok=True)
