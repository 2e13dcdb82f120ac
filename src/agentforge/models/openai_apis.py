"""Which of OpenAI's two wire formats a server is spoken with in; the second is loaded only when it is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.models.openai_chat import OPENAI_CHAT

if TYPE_CHECKING:
    from agentforge.models.dialect import Dialect
    from agentforge.models.model import ModelSpec


def dialect_of(spec: ModelSpec) -> Dialect:
    """Chat completions, or responses where `model.api` asks for them."""
    if spec.api != "responses":
        return OPENAI_CHAT
    from agentforge.models.openai_responses import OPENAI_RESPONSES

    return OPENAI_RESPONSES
