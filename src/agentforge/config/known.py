"""Settings files that were found valid before: reading and judging one costs as much CPU as all else before the first request."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

from agentforge import __version__
from agentforge.canonical import digest_bytes
from agentforge.config.paths import data_dir
from agentforge.errors import StorageError

_SCHEMA_FILE = Path(__file__).with_name("settings.schema.json")


class Known:
    """A memory of files by what they hold; what is not remembered, or not readable, is judged anew."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def recall(self, text: str, *, project: bool) -> dict[str, object] | None:
        """Return the values of a file that this version found valid; None when it did not see it yet."""
        try:
            found = json.loads(self._place(text, project=project).read_bytes())
        except (OSError, StorageError, ValueError):  # a memory that cannot be read is none
            return None
        return cast("dict[str, object]", found) if isinstance(found, dict) else None

    def remember(self, text: str, values: Mapping[str, object], *, project: bool) -> None:
        """Keep the values of a valid file; where that is not possible, it is judged again next time."""
        written = json.dumps(values)
        if json.loads(written) != values:  # keys that are no strings: JSON would change them
            return
        with suppress(OSError, StorageError):
            place = self._place(text, project=project)
            place.parent.mkdir(mode=0o700, exist_ok=True)
            fresh = place.with_name(f"{place.name}.{os.getpid()}")
            fresh.touch(mode=0o600)
            fresh.write_text(written)
            fresh.replace(place)

    def _place(self, text: str, *, project: bool) -> Path:
        """Bound to the program, its schema, the file's text, and whose file it is."""
        bound = "\0".join((__version__, digest_bytes(_SCHEMA_FILE.read_bytes()), str(project), text))
        return data_dir(self._environ) / "settings" / f"{digest_bytes(bound.encode())}.json"
