"""Provider scripted: replies from a YAML file; the model's name is the file's path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.models.stand_ins.scripted import ScriptedModel

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec


def open_model(spec: ModelSpec) -> ScriptedModel:
    """Open a script."""
    return ScriptedModel(spec.name)
