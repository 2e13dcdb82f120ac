"""Model providers that come with other packages: entry points of the group `agentforge.providers`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from agentforge.errors import ModelNotConfigured

if TYPE_CHECKING:
    from types import ModuleType

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
                f"the provider {name} cannot be loaded: {exc}", hint=f"repair {point.value}, or take its package away"
            ) from exc
        if not callable(getattr(module, "open_model", None)):
            raise ModelNotConfigured(f"{point.value} is no provider", hint="it needs a function open_model(spec)")
        return module
    return None
