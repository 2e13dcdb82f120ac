"""Opens a model from its settings. Providers are the files of `providers/`, each loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.errors import ModelNotConfigured
from agentforge.models.api.installed import installed_provider
from agentforge.models.api.model import Model, ModelSpec

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = ["Model", "ModelSpec", "open_model", "provider_names"]


def provider_names() -> tuple[str, ...]:
    """The registered providers, sorted. Loads none of them."""
    files = (Path(__file__).parents[1] / "providers").glob("*.py")
    return tuple(sorted(file.stem for file in files if not file.stem.startswith("_")))


def open_model(spec: ModelSpec) -> Model:
    """Open the model that settings describe. Nothing is sent yet.

    Raises:
        ModelNotConfigured: unknown provider, or one that lacks its key or address.
        ConfigError: the file of a scripted or recorded model cannot be read.
    """
    if not spec.name:
        raise ModelNotConfigured(f"no model of {spec.provider} was named", hint=f"write {spec.provider}/NAME")
    module = _provider(spec.provider)
    opener = cast("Callable[[ModelSpec], Model]", module.open_model)
    return opener(spec)


def _provider(name: str) -> ModuleType:
    """One of ours, or one that another package brings."""
    known = provider_names()
    if name in known:
        return import_module(f"agentforge.models.providers.{name}")

    module = installed_provider(name)
    if module is None:
        raise ModelNotConfigured(f"there is no model provider {name!r}", hint=f"providers are {', '.join(known)}")
    return module
