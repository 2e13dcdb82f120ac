"""Provider groq: Groq (extra `providers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentforge.errors import ModelNotConfigured
from agentforge.models.api.adapted import AdaptedModel

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec


def open_model(spec: ModelSpec) -> AdaptedModel:
    """Open a model of Groq.

    Raises:
        ModelNotConfigured: no key.
    """
    if not spec.api_key:
        raise ModelNotConfigured(f"{spec.full_name} needs an API key", hint="set GROQ_API_KEY")
    return AdaptedModel(spec, _build)


def _build(spec: ModelSpec) -> Any:
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    provider = GroqProvider(api_key=spec.api_key, base_url=spec.base_url or None)
    provider.client.max_retries = 0  # the tries are ours
    return GroqModel(spec.name, provider=provider)
