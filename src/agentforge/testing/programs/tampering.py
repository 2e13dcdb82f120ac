"""Notices when code of the checkout replaced functions of the test runner."""

from __future__ import annotations

import importlib.util
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import SupportsIndex

_WATCHED = ("_pytest.", "pluggy", "unittest.", "_agentforge_")
# Watched as well, but a sixth of the cost of a start, with asyncio below them: they are watched from when they are imported.
_LATER = ("unittest.mock", "unittest.async_case")
_BELOW = ("asyncio",)
_WRAPPERS = (staticmethod, classmethod, property)


def watch() -> Callable[[Callable[[str], bool]], list[str]]:
    """Remember every function of the runner that is loaded now, and of the rest of it when that is imported.

    Call it before the checkout is on `sys.path`: where the rest comes from is settled now.

    Returns:
        A function that, given "does this source file belong to the checkout?", lists what was replaced by it since.
    Side effects: `sys.meta_path` gets an entry, and is a list that keeps pytest's own finder behind it.
    """
    seen: dict[str, tuple[Any, str, Any, Any]] = {}  # name -> owner, attribute, function, its code

    def note(modules: list[types.ModuleType]) -> None:
        for name, (owner, attribute, function) in _functions(modules):
            seen[name] = (owner, attribute, function, function.__code__)

    note([module for name, module in sys.modules.copy().items() if name.startswith(_WATCHED)])
    noted = _Settled.put_in(note)

    def altered(belongs: Callable[[str], bool]) -> list[str]:
        found = [f"{name}, imported past the watch" for name in _LATER if name in sys.modules and name not in noted]
        for name, (owner, attribute, function, before) in list(seen.items()):
            now = vars(owner).get(attribute, function)
            if now is function and function.__code__ is before:
                continue
            now = _plain(now)
            code = getattr(now, "__code__", None)
            if now is function and code is before:
                continue
            if isinstance(code, types.CodeType) and not belongs(code.co_filename):
                continue  # an installed plugin patches the runner: the user has it so
            found.append(name)
        return found[:20]

    return altered


class _Settled:
    """Finds the modules of the runner that are imported later where they lay before the checkout was on `sys.path`."""

    def __init__(self, note: Callable[[list[types.ModuleType]], None]) -> None:
        self._note = note
        self._specs: dict[str, Any] = {}
        self.noted = {name for name in _LATER if name in sys.modules}

    @classmethod
    def put_in(cls, note: Callable[[list[types.ModuleType]], None]) -> set[str]:
        """Find out where the modules lie, and answer for them from now on.

        Returns:
            the names of those that are watched; it grows.
        """
        one = cls(note)
        for name in (*_LATER, *_BELOW):
            spec = None if name in sys.modules else importlib.util.find_spec(name)
            if spec is not None and spec.has_location:
                one._specs[name] = spec
        sys.meta_path = _Finders([one, *sys.meta_path])
        return one.noted

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Give the place that was found at the start; None where another finder is to answer."""
        spec = self._specs.get(name)
        if spec is None or name not in _LATER:
            return spec
        loader: Any = _Noting(spec.loader, self._seen)
        return importlib.util.spec_from_file_location(name, spec.origin, loader=loader)

    def _seen(self, module: types.ModuleType) -> None:
        self._note([module])
        self.noted.add(module.__name__)


class _Finders(list):  # type: ignore[type-arg]  # Python 3.8 has no list[Any]
    """`sys.meta_path`: pytest's finder, which takes every module where `python_files` is `*.py`, stays behind the first one."""

    def insert(self, at: SupportsIndex, one: Any) -> None:
        """Insert a finder; pytest's own not before the first."""
        ours = type(one).__module__ == "_pytest.assertion.rewrite" and self[:1] and isinstance(self[0], _Settled)
        super().insert(1 if ours else at, one)


class _Noting:
    """Loads a module as its own loader does, and hands it on before anybody else has it."""

    def __init__(self, loader: Any, seen: Callable[[types.ModuleType], None]) -> None:
        self._loader = loader
        self._seen = seen

    def create_module(self, spec: Any) -> Any:
        """Make the module as usual."""
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run it, and leave no trace of ourselves in it."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._seen(module)


def _functions(modules: list[types.ModuleType]) -> Iterator[tuple[str, tuple[Any, str, Any]]]:
    """Functions of modules and of their classes: name -> (owner, attribute, function)."""
    for module in modules:
        name = module.__name__
        yield from _members(module, name).items()
        for attribute, value in vars(module).copy().items():
            if isinstance(value, type) and value.__module__ == name:
                yield from _members(value, f"{name}.{attribute}").items()


def _members(owner: Any, name: str) -> dict[str, tuple[Any, str, Any]]:
    """The functions that stand in a module or class itself; most members are none, and every test run looks at all of them."""
    found: dict[str, tuple[Any, str, Any]] = {}
    for attribute, member in vars(owner).copy().items():
        kind = type(member)
        function = member if kind is types.FunctionType else _plain(member) if issubclass(kind, _WRAPPERS) else None
        if isinstance(function, types.FunctionType):
            found[f"{name}.{attribute}"] = (owner, attribute, function)
    return found


def _plain(member: Any) -> Any:
    """The function behind a static method, class method or property."""
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    if isinstance(member, property):
        return member.fget
    return member
