"""Provider recorded: replies of an earlier run; the model's name is the recording's path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.models.stand_ins.recorded import RecordedModel

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec


def open_model(spec: ModelSpec) -> RecordedModel:
    """Open a recording."""
    return RecordedModel(spec.name)
