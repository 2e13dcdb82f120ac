"""The artifacts folder: where each stage's verified artifact stands and what original_request.yaml holds.

Source: seed 001 section 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.kinds import Json
from agentforge.events.state.run_state import RunState
from agentforge.views.words import seconds

ORIGINAL_REQUEST = "artifacts/inputs/original_request.yaml"

_NAMES = {
    "intake": "intake_record",
    "clarify": "clarification",
    "analyze": "analysis",
    "spec": "specification",
    "red": "test_suite",
    "green": "implementation",
    "refactor": "deliverable",
    "deliver": "delivery_report",
    "guard": "guard_suite",
    "change": "violation_fix",
    "verify": "fix_verification",
}

_FIRST = ("title", "name", "path", "file", "line", "question", "goal", "original_request", "description")
_LAST = ("verification", "metadata")


def artifact_path(stage: str) -> str:
    """Where the verified artifact of `stage` stands in the run's folder; a stage of a plug-in uses its own name."""
    return f"artifacts/phases/{stage}/{_NAMES.get(stage, stage)}.yaml"


def artifact_value(artifact: Json) -> dict[str, object]:
    """An accepted artifact with its keys in a readable order (records keep them sorted): names first, verification last."""
    return {key: _readable(artifact[key]) for key in sorted(artifact, key=_reading_order)}


def snapshot_path(step: int) -> str:
    """Where the patch of `step` stands in the run's folder."""
    return f"artifacts/snapshots/step_{step:03d}.patch"


def original_request_value(state: RunState) -> dict[str, object]:
    """The value of original_request.yaml: what came in, word for word."""
    return {
        "original_request": state.request,
        "received_at": seconds(state.started_at),
        "repo": state.repo,
        "base_commit": state.base_commit,
        "tests": list(state.tests),
    }


def _readable(value: object) -> object:
    if isinstance(value, Mapping):
        return artifact_value(value)
    return [_readable(item) for item in value] if isinstance(value, (list, tuple)) else value


def _reading_order(key: str) -> tuple[int, str]:
    if key == "id" or key.endswith("_id"):
        return 0, key
    if key in _FIRST:
        return 1 + _FIRST.index(key), key
    return len(_FIRST) + (2 if key in _LAST else 1), key
