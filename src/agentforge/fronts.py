"""The front of a package: its public names, each taken from the module that has it at the moment when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def front(package: str, places: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """Make the `__getattr__` of a package (PEP 562), so that whoever imports one of its names loads one of its modules.

    Args:
        package: the `__name__` of the package.
        places: the public names by the module of the package that has them.

    Returns:
        A function from a public name to its value. It keeps nothing: the module's own attribute stays the only one.
        It raises AttributeError for any other name.
    """
    modules = {name: f"{package}.{module}" for module, names in places.items() for name in names}

    def public(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return public
