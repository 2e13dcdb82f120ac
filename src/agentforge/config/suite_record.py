"""The last whole run of a suite on this machine, kept so that the doctor can tell of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from agentforge.canonical import canonical_bytes
from agentforge.config.edits import write_text
from agentforge.config.paths import data_dir
from agentforge.frozen import dataclass

Suite = Literal["attacks", "injections"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """How a suite went.

    Attributes:
        summary: the closing line of the command.
        at: ISO 8601 in UTC.
        version: of AgentForge.
    """

    ok: bool
    summary: str
    at: str
    version: str


def remember(suite: Suite, run: LastRun, environ: Mapping[str, str]) -> None:
    """Keep how a whole suite went.

    Raises:
        StorageError: it cannot be written.
    """
    value = {"ok": run.ok, "summary": run.summary, "at": run.at, "version": run.version}
    write_text(_place(suite, environ), canonical_bytes(value).decode(), folder_mode=0o700)


def last_run(suite: Suite, environ: Mapping[str, str]) -> LastRun | None:
    """How a suite went when it was last played as a whole; None when it never was, or the record is damaged."""
    try:
        value = json.loads(_place(suite, environ).read_bytes())
        return LastRun(
            ok=value["ok"] is True, summary=str(value["summary"]), at=str(value["at"]), version=str(value["version"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _place(suite: Suite, environ: Mapping[str, str]) -> Path:
    return data_dir(environ) / "suites" / f"{suite}.json"
