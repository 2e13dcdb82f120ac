"""Models: two wire dialects, retries, fallback, scripted and recorded models, prices, the catalogue of providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.models.api.abilities import of_provider
    from agentforge.models.api.catalogue import installed_provider, open_model
    from agentforge.models.api.fallback import Breaker, FallbackModel, LimitedModel
    from agentforge.models.api.model import Model, ModelSpec, thinking_heard
    from agentforge.models.api.prices import cost_usd
    from agentforge.models.providers import LOCAL_PORTS, PROVIDERS, Provider
    from agentforge.models.stand_ins.recorded import RecordedModel, recorded_line
    from agentforge.models.stand_ins.scripted import ScriptedModel
    from agentforge.models.transport.connection import proxy_credentials, proxy_for, tls_context
else:
    __getattr__ = front(
        __name__,
        {
            "api.abilities": ("of_provider",),
            "api.catalogue": ("installed_provider", "open_model"),
            "api.fallback": ("Breaker", "FallbackModel", "LimitedModel"),
            "api.model": ("Model", "ModelSpec", "thinking_heard"),
            "api.prices": ("cost_usd",),
            "providers": ("LOCAL_PORTS", "PROVIDERS", "Provider"),
            "stand_ins.recorded": ("RecordedModel", "recorded_line"),
            "stand_ins.scripted": ("ScriptedModel",),
            "transport.connection": ("proxy_credentials", "proxy_for", "tls_context"),
        },
    )

__all__ = [
    "LOCAL_PORTS",
    "PROVIDERS",
    "Breaker",
    "FallbackModel",
    "LimitedModel",
    "Model",
    "ModelSpec",
    "Provider",
    "RecordedModel",
    "ScriptedModel",
    "cost_usd",
    "installed_provider",
    "of_provider",
    "open_model",
    "proxy_credentials",
    "proxy_for",
    "recorded_line",
    "thinking_heard",
    "tls_context",
]
