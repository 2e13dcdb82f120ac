"""Modules of the standard library that others import at their top and hardly ever use: loaded when they are touched."""

from __future__ import annotations

import sys
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

SELDOM = ("inspect",)
"""click cleans help texts with it, dataclasses write a docstring where there is none; it brings ast, dis and tokenize."""

_loading = RLock()


def load_later(names: tuple[str, ...] = SELDOM) -> None:
    """Let modules that are not loaded yet wait until something in them is asked for.

    Side effects: stands in for them in `sys.modules`; whoever asks there later gets the module itself.
    """
    for name in names:
        sys.modules.setdefault(name, _Waiting(name))


class _Waiting(ModuleType):
    """What importers hold of a module that nobody needed yet; it passes on whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        with _loading:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            return getattr(import_module(self.__name__), name)
