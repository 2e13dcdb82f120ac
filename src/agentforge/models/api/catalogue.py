"""Opens a model from its settings: one of the table of providers, or one that another package brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from agentforge.errors import ModelNotConfigured
from agentforge.models.api.installed import installed_provider
from agentforge.models.api.model import Model, ModelSpec
from agentforge.models.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Model", "ModelSpec", "open_model"]


def open_model(spec: ModelSpec) -> Model:
    """Open the model that settings describe. Nothing is sent yet.

    Raises:
        ModelNotConfigured: unknown provider, or one that lacks its key or address.
        ConfigError: the file of a scripted or recorded model cannot be read.
    """
    if not spec.name:
        raise ModelNotConfigured(f"no model of {spec.provider} was named", hint=f"write {spec.provider}/NAME")
    provider = PROVIDERS.get(spec.provider)
    if provider is not None:
        return provider.opener(spec)
    module = installed_provider(spec.provider)
    if module is None:
        known = ", ".join(sorted(PROVIDERS))
        raise ModelNotConfigured(f"there is no model provider {spec.provider!r}", hint=f"providers are {known}")
    return cast("Callable[[ModelSpec], Model]", module.open_model)(spec)
