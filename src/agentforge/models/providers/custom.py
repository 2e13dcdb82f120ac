"""Provider custom: any server that speaks OpenAI's chat completions, at the address that the base URL names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.errors import ModelNotConfigured
from agentforge.models.api.hosted import HostedModel
from agentforge.models.dialects.openai_apis import dialect_of

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec


def open_model(spec: ModelSpec) -> HostedModel:
    """Open a model of an OpenAI-compatible server.

    Raises:
        ModelNotConfigured: no base URL.
    """
    if not spec.base_url:
        raise ModelNotConfigured(f"{spec.full_name} needs an address", hint="set BASE_URL or model.base_url")
    return HostedModel(spec, dialect_of(spec))
