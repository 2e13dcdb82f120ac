"""Provider bedrock: Amazon Bedrock, with AWS's own ways to find credentials and region (extra `providers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentforge.models.api.adapted import AdaptedModel

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec


def open_model(spec: ModelSpec) -> AdaptedModel:
    """Open a model of Amazon Bedrock."""
    return AdaptedModel(spec, _build)


def _build(spec: ModelSpec) -> Any:
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    url, wait = spec.base_url or None, spec.read_timeout_s
    if spec.api_key:
        provider = BedrockProvider(base_url=url, aws_read_timeout=wait, api_key=spec.api_key)
    else:
        provider = BedrockProvider(base_url=url, aws_read_timeout=wait)
    return BedrockConverseModel(spec.name, provider=provider)
