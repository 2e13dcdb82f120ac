"""A run as log lines: one JSON object for each event, with the ids of its trace; what was said is left out unless asked for."""

from __future__ import annotations

import json
from typing import TextIO

from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.codec import encode
from agentforge.telemetry.spans import trace_id_of

_PLAIN = frozenset(
    {
        "stage", "step", "attempt", "index", "name", "status", "slug", "outcome", "passed", "model", "finish", "cost_usd",
        "duration_ms", "escalation_id", "kind", "decision", "by", "branch", "commit", "effect", "error_type", "about",
        "channel", "notice", "remote", "run_id", "usage", "requests", "exit_code", "verdict", "trigger",
    }
)  # fmt: skip
_SEVERE = {"ModelFailed": "ERROR", "RunInterrupted": "WARN", "EscalationRaised": "WARN", "LogRecovered": "WARN"}


class LogLines:
    """Writes a line for each event; a reader that left is no matter of the run's.

    Args:
        contents: lines hold everything that the events hold.
    """

    def __init__(self, stream: TextIO, *, contents: bool) -> None:
        self._stream = stream
        self._contents = contents
        self._gone = False

    def __call__(self, event: Event, state: RunState) -> None:
        """Write one line."""
        name, data = encode(event)
        known = data if self._contents else {key: value for key, value in data.items() if key in _PLAIN}
        failed = bool(data.get("error")) or data.get("passed") is False
        line = {
            "timestamp": state.progress.last_at,
            "severity": _SEVERE.get(name, "WARN" if failed else "INFO"),
            "event": name,
            "task_id": state.identity.run_id,
            "trace_id": trace_id_of(state.identity.run_id),
            **{f"agentforge.{key}": value for key, value in known.items()},
        }
        try:
            if not self._gone:
                self._stream.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
                self._stream.flush()
        except BrokenPipeError:
            self._gone = True
