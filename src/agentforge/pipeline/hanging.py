"""Runs of a suite in which a test does not end, as the base line says: each test has the limit that was found there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.events.state import RunState
from agentforge.pipeline.runtime import Runtime

if TYPE_CHECKING:
    from agentforge.runners.rig import Rig


def bounded_rig(state: RunState, runtime: Runtime) -> Rig:
    """What runs the suite; with the limit of one test where a test of the base does not end."""
    limit = state.facts.get("baseline", {}).get("test_limit_s")
    return replace(runtime.rig(), test_limit_s=float(limit)) if isinstance(limit, (int, float)) else runtime.rig()
