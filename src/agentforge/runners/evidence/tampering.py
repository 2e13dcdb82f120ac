"""Notices when code of the checkout replaced functions of the test runner."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_WATCHED = ("_pytest.", "pluggy", "unittest.", "_agentforge_")


def watch() -> Callable[[Callable[[str], bool]], list[str]]:
    """Remember every function of the runner that is loaded now.

    Returns:
        A function that, given "does this source file belong to the checkout?", lists what was replaced by it since.
    """
    before = _functions()
    slots = list(before.items())
    codes = {name: function.__code__ for name, (_owner, _attribute, function) in before.items()}

    def altered(belongs: Callable[[str], bool]) -> list[str]:
        found = []
        for name, (owner, attribute, function) in slots:
            now = _plain(vars(owner).get(attribute, function))
            code = getattr(now, "__code__", None)
            if now is function and code is codes[name]:
                continue
            if isinstance(code, types.CodeType) and not belongs(code.co_filename):
                continue  # an installed plugin patches the runner: the user has it so
            found.append(name)
        return found[:20]

    return altered


def _functions() -> dict[str, tuple[Any, str, Any]]:
    """Functions of the watched modules and of their classes: name -> (owner, attribute, function)."""
    found: dict[str, tuple[Any, str, Any]] = {}
    for name, module in sys.modules.copy().items():
        if name.startswith(_WATCHED):
            found.update(_members(module, name))
            for attribute, value in vars(module).copy().items():
                if isinstance(value, type) and value.__module__ == name:
                    found.update(_members(value, f"{name}.{attribute}"))
    return found


def _members(owner: Any, name: str) -> dict[str, tuple[Any, str, Any]]:
    """The functions that stand in a module or class itself."""
    plain = {attribute: _plain(member) for attribute, member in vars(owner).copy().items()}
    return {
        f"{name}.{attribute}": (owner, attribute, function)
        for attribute, function in plain.items()
        if isinstance(function, types.FunctionType)
    }


def _plain(member: Any) -> Any:
    """The function behind a static method, class method or property."""
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    if isinstance(member, property):
        return member.fget
    return member
