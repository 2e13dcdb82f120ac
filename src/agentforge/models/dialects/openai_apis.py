"""Which of OpenAI's two wire formats a server is spoken with in; the second is loaded only when it is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from agentforge.models.dialects.openai_responses import OPENAI_RESPONSES

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec
    from agentforge.models.dialects.dialect import Dialect


def dialect_of(spec: ModelSpec) -> Dialect:
    """Chat completions, or responses where `model.api` asks for them."""
    if spec.api != "responses":
        return OPENAI_CHAT

    return OPENAI_RESPONSES
