"""Remembers results of runs by tree, plan and selection, so that nothing is run twice without need."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_value
from agentforge.errors import StorageError
from agentforge.safety.text.redaction import redact, redact_value
from agentforge.testing.outcome import SuiteRun, run_of, run_value

_FORMAT = 2
"""In 1, ids of tests were kept without what only looked like a secret, so that a test was not found again."""


class ResultCache:
    """A folder of JSON files, one for a run. Only runs that ended by themselves are kept."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`; it is made when the first result is kept."""
        self._folder = folder

    def get(self, key: Mapping[str, object]) -> SuiteRun | None:
        """Return the run that was kept under this key; None when there is none that can be read."""
        value = self.recall(key)
        try:
            return None if value is None else run_of(value)
        except (ValueError, KeyError, TypeError):
            return None

    def recall(self, key: Mapping[str, object]) -> dict[str, Any] | None:
        """Return the value that was kept under this key; None when there is none that can be read."""
        try:
            value = json.loads(self._path(key).read_bytes())
            return dict(value["run"]) if (value["format"], value["key"]) == (_FORMAT, dict(key)) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: Mapping[str, object], run: SuiteRun) -> None:
        """Keep a run.

        Raises:
            StorageError: the folder cannot be written.
        """
        if run.complete and not run.timed_out:
            self.keep(key, run_value(run))

    def keep(self, key: Mapping[str, object], value: Mapping[str, Any]) -> None:
        """Keep any JSON value.

        Raises:
            StorageError: the folder cannot be written.
        """
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}")
            kept = {"format": _FORMAT, "key": dict(key), "run": _without_secrets(value)}
            draft.write_text(json.dumps(kept), "utf-8")
            draft.replace(path)
        except OSError as exc:
            raise StorageError(f"cannot keep a test result in {self._folder}: {exc}", hint="free some space") from exc

    def _path(self, key: Mapping[str, object]) -> Path:
        digest = digest_value(dict(key))
        return self._folder / digest[:2] / f"{digest[2:]}.json"


def _without_secrets(value: Mapping[str, object]) -> object:
    """What tests print, without what looks like a secret: the cache outlives the run."""
    return redact_value(value) if redact(json.dumps(value, ensure_ascii=False)).count else value
