"""Provider openrouter: openrouter.ai, which passes on to many providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.errors import ModelNotConfigured
from agentforge.models.api.hosted import HostedModel
from agentforge.models.dialects.openai_apis import dialect_of

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec

BASE_URL = "https://openrouter.ai/api/v1"


def open_model(spec: ModelSpec) -> HostedModel:
    """Open a model of OpenRouter.

    Raises:
        ModelNotConfigured: no key, and no other address that may need none.
    """
    if not spec.api_key and not spec.base_url:
        raise ModelNotConfigured(f"{spec.full_name} needs an API key", hint="set OPENROUTER_API_KEY")
    return HostedModel(spec, dialect_of(spec), base_url=BASE_URL)
