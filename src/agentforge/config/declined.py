"""What a person did not want to use of a project: nobody asks again before it is something else."""

from __future__ import annotations

import json
from collections.abc import Mapping

from agentforge.canonical import canonical_bytes, digest_value
from agentforge.config.edits import write_text
from agentforge.config.paths import data_dir
from agentforge.config.trust import Trust


def is_declined(trust: Trust, environ: Mapping[str, str]) -> bool:
    """Whether the person said no to exactly what waits for trust now."""
    return _read(environ).get(str(trust.project)) == _digest(trust)


def decline(trust: Trust, environ: Mapping[str, str]) -> None:
    """Remember that the person said no to what waits for trust now.

    Raises:
        StorageError: it cannot be written.
    """
    known = {**_read(environ), str(trust.project): _digest(trust)}
    write_text(data_dir(environ) / "declined.json", canonical_bytes(known).decode())


def _digest(trust: Trust) -> str:
    pending = {one.name for one in trust.pending()}
    return digest_value([[item.name, item.digest] for item in trust.items if item.name in pending])


def _read(environ: Mapping[str, str]) -> dict[str, str]:
    """The digests by project; a file that is damaged says nothing, and the person is asked again."""
    try:
        value = json.loads((data_dir(environ) / "declined.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
