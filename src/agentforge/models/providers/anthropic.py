"""Provider anthropic: api.anthropic.com, or an Anthropic-compatible server that the base URL names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.errors import ModelNotConfigured
from agentforge.models.api.hosted import HostedModel
from agentforge.models.dialects.anthropic_messages import ANTHROPIC_MESSAGES

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec

BASE_URL = "https://api.anthropic.com"


def open_model(spec: ModelSpec) -> HostedModel:
    """Open a model of Anthropic.

    Raises:
        ModelNotConfigured: no key, and no other address that may need none.
    """
    if not spec.api_key and not spec.base_url:
        raise ModelNotConfigured(f"{spec.full_name} needs an API key", hint="set ANTHROPIC_API_KEY")
    return HostedModel(spec, ANTHROPIC_MESSAGES, base_url=BASE_URL)
