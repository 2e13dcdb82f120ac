"""Provider ollama: a Ollama server, by default on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.models.api.hosted import HostedModel
from agentforge.models.dialects.constrained import ConstrainedModel
from agentforge.models.dialects.openai_chat import OPENAI_CHAT

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec

BASE_URL = "http://127.0.0.1:11434/v1"


def open_model(spec: ModelSpec) -> HostedModel | ConstrainedModel:
    """Open a model that Ollama serves."""
    model = HostedModel(spec, OPENAI_CHAT, base_url=BASE_URL)
    return ConstrainedModel(model) if spec.profile == "small" else model
