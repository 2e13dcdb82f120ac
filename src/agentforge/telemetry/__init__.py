"""What a run tells collectors: spans, metrics and log lines, made from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.telemetry.export import Exporter, LogLines
else:
    __getattr__ = front(__name__, {"export": ("Exporter", "LogLines")})

__all__ = ["Exporter", "LogLines"]
