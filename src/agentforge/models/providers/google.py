"""Provider google: Google's Gemini (extra `providers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentforge.errors import ModelNotConfigured
from agentforge.models.api.adapted import AdaptedModel

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec


def open_model(spec: ModelSpec) -> AdaptedModel:
    """Open a model of Google.

    Raises:
        ModelNotConfigured: no key.
    """
    if not spec.api_key:
        raise ModelNotConfigured(f"{spec.full_name} needs an API key", hint="set GOOGLE_API_KEY")
    return AdaptedModel(spec, _build)


def _build(spec: ModelSpec) -> Any:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(spec.name, provider=GoogleProvider(api_key=spec.api_key, base_url=spec.base_url or None))
