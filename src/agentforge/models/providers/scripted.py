"""Provider scripted: replies from a YAML file; the model's name is the file's path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from agentforge.models.model import ModelSpec


def open_model(spec: ModelSpec) -> ScriptedModel:
    """Open a script."""
    return ScriptedModel(spec.name)
