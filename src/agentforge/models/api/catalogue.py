"""Opens a model from its settings: one of the table of providers, or one that another package brings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import cast

from agentforge.errors import ModelNotConfigured
from agentforge.models.api.model import Model, ModelSpec
from agentforge.models.providers import PROVIDERS

GROUP = "agentforge.providers"


@cache
def installed_provider(name: str) -> ModuleType | None:
    """The module of a provider that a package brings; None when no package does.

    The module has `open_model(spec)`; `KEY` may name the variable that holds its key, `BASE_URL` its address.

    Raises:
        ModelNotConfigured: the package cannot be loaded.
    Side effects: imports the module.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        try:
            module: ModuleType = point.load()
        except Exception as exc:  # a stranger's package may fail in any way
            raise ModelNotConfigured(
                f"the provider {name} cannot be loaded: {exc}", hint=f"repair {point.value}, or remove its package"
            ) from exc
        if not callable(getattr(module, "open_model", None)):
            raise ModelNotConfigured(f"{point.value} is not a provider", hint="it needs a function open_model(spec)")
        return module
    return None


__all__ = ["Model", "ModelSpec", "installed_provider", "open_model"]


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
