"""Writes down calls of the project's own functions and methods while its tests run, so that they can be made again elsewhere.

A call is kept where its arguments are literals or can be pickled without anything that the tests define; its result where it is a
literal. It is kept before the function does anything, so that what it does to its arguments is not in them.
"""

from __future__ import annotations

import inspect
import io
import math
import os
import pickle
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_EACH, _MOST = 6, 200
_TEXT, _OBJECT_BYTES = 1_000, 3_000
_DEPTH, _PARTS = 8, 200
_EVENTS, _EVENTS_OF_A_TEST = 600_000, 100_000
_PLAIN = (type(None), bool, int, str, bytes)
_CONTAINERS = (list, tuple, set, frozenset)
_SKIPPED = (
    "<",
    "__init__",
    "__new__",
    "__del__",
    "__getattr__",
    "__getattribute__",
    "__set_name__",
    "__init_subclass__",
)


class _Foreign(Exception):
    """An object that exists only where the tests run."""


class Calls:
    """Listens to calls of functions in some files, from `begin` to `end` of each test.

    Attributes:
        rows: what was kept: {path, module, name, source, names, told, returns}.
    """

    def __init__(self, files: Iterable[str], root: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self._files = {path: os.path.relpath(path, root) for path in files}
        self._root = root
        self._left = _EVENTS
        self._codes: dict[int, tuple[types.CodeType, int]] = {}
        self._known: set[str] = set()

    def begin(self) -> None:
        """Listen, unless another profiler does or enough was heard."""
        if self._files and self._left > 0 and len(self.rows) < _MOST and sys.getprofile() is None:
            sys.setprofile(self._listener())

    def end(self) -> None:
        """Stop listening."""
        if getattr(sys.getprofile(), "__qualname__", "").startswith("Calls._listener"):
            sys.setprofile(None)

    def _listener(self) -> Any:
        room, codes = [min(self._left, _EVENTS_OF_A_TEST)], self._codes
        waiting: dict[int, dict[str, Any]] = {}

        def heard(frame: types.FrameType, event: str, argument: Any) -> None:
            room[0] -= 1
            self._left -= 1
            if room[0] < 0:
                sys.setprofile(None)
            elif event == "call":
                code = frame.f_code
                known = codes.get(id(code))
                if known is None:
                    known = codes[id(code)] = (code, _EACH if self._counts(code) else 0)
                if known[1]:
                    row = self._kept(frame, code)
                    if row is not None:
                        codes[id(code)] = (code, known[1] - 1)
                        waiting[id(frame)] = row
            elif event == "return" and waiting:
                row = waiting.pop(id(frame), None)
                if row is not None and argument is not None:
                    row["returns"] = _literal(argument) or ""

        return heard

    def _counts(self, code: types.CodeType) -> bool:
        later = code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
        return code.co_filename in self._files and not code.co_name.startswith(_SKIPPED) and not later

    def _kept(self, frame: types.FrameType, code: types.CodeType) -> dict[str, Any] | None:
        """Keep the call that begins in a frame; None where it cannot be made again, or is known."""
        try:
            found = _owner(frame, code)
            if found is None or len(self.rows) >= _MOST:
                return None
            module, name = found
            given = [self._written(*one) for one in _arguments(frame, code)]
        except Exception:  # noqa: BLE001 - an object of the project may raise anything when it is looked at
            return None
        source = f"{name}({', '.join(written for written, _ in given)})"
        if source in self._known:
            return None
        self._known.add(source)
        row = {
            "path": self._files[code.co_filename], "name": name, "source": source, "returns": "",
            "names": {name.partition(".")[0]: [[module], name.partition(".")[0]]},
            "told": f"{name}({', '.join(told for _, told in given)})",
        }  # fmt: skip
        self.rows.append(row)
        return row

    def _written(self, prefix: str, value: Any) -> tuple[str, str]:
        """An argument as source, and as it is told.

        Raises:
            _Foreign: it cannot be made anywhere else.
        """
        text = _literal(value)
        if text is None:
            data = self._pickled(value)
            return f"{prefix}__import__('pickle').loads(bytes.fromhex('{data}'))", f"{prefix}<{type(value).__name__}>"
        return prefix + text, prefix + (text if len(text) < 80 else f"{text[:80]}...")

    def _pickled(self, value: Any) -> str:
        stream = io.BytesIO()
        _Careful(stream, self._root).dump(value)
        data = stream.getvalue()
        if len(data) > _OBJECT_BYTES:
            raise _Foreign
        if type(pickle.loads(data)) is not type(value):
            raise _Foreign
        return data.hex()


class _Careful(pickle.Pickler):
    """Refuses what the tests define: it exists nowhere else."""

    def __init__(self, stream: io.BytesIO, root: str) -> None:
        super().__init__(stream, protocol=4)
        self._root = root

    def reducer_override(self, value: Any) -> Any:
        """Look where a class or function comes from; how it is written stays as it is."""
        name = value.__module__ if isinstance(value, (type, types.FunctionType)) else type(value).__module__
        path = getattr(sys.modules.get(str(name)), "__file__", None) or ""
        inside = path[len(self._root) + 1 :].split("/") if path.startswith(f"{self._root}/") else []
        last = inside[-1] if inside else ""
        tests = (
            {"test", "tests", "testing"} & set(inside)
            or last.startswith(("test_", "conftest"))
            or last.endswith("_test.py")
        )
        if tests or str(name) in ("__main__", "unittest.mock"):
            raise _Foreign
        return NotImplemented


def _owner(frame: types.FrameType, code: types.CodeType) -> tuple[str, str] | None:
    """The module and the dotted name by which what runs in a frame is called; None for what has none."""
    module = frame.f_globals.get("__name__")
    if not isinstance(module, str) or module == "__main__":
        return None
    if _is_of(frame.f_globals.get(code.co_name), code):
        return module, code.co_name
    first = code.co_varnames[:1] if code.co_argcount else ()
    owner = frame.f_locals.get(first[0]) if first else None
    for one in type.__dict__["__mro__"].__get__(type(owner)) if first else ():
        if _is_of(type.__dict__["__dict__"].__get__(one).get(code.co_name), code):
            named = one.__qualname__ if "<" not in one.__qualname__ else ""
            return (str(one.__module__), f"{named}.{code.co_name}") if named else None
    return None


def _is_of(value: Any, code: types.CodeType) -> bool:
    """Whether a function, or what it wraps, runs this code."""
    for _ in range(5):
        if not isinstance(value, types.FunctionType):
            value = inspect.getattr_static(value, "__wrapped__", None)
        elif value.__code__ is code:
            return True
        else:
            value = value.__dict__.get("__wrapped__")
    return False


def _arguments(frame: types.FrameType, code: types.CodeType) -> Iterator[tuple[str, Any]]:
    """The arguments in the order of a call: what stands before each (`name=`), and its value."""
    names, count, keyed = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    known = frame.f_locals
    yield from (("", known[name]) for name in names[:count])
    place = count + keyed
    if code.co_flags & inspect.CO_VARARGS:
        yield from (("", value) for value in known[names[place]])
        place += 1
    yield from ((f"{name}=", known[name]) for name in names[count : count + keyed])
    if code.co_flags & inspect.CO_VARKEYWORDS:
        yield from ((f"{name}=", value) for name, value in known[names[place]].items())


def _literal(value: Any) -> str | None:
    """The source of a value that is nothing but a literal; None for everything else."""
    room = [_PARTS]
    if not _is_literal(value, room, 0):
        return None
    text = repr(value)
    return text if len(text) <= _TEXT else None


def _is_literal(value: Any, room: list[int], depth: int) -> bool:
    kind, room[0] = type(value), room[0] - 1
    if room[0] < 0 or depth > _DEPTH:
        return False
    if kind in (str, bytes):
        return len(value) <= _TEXT
    if kind is int:
        return bool(abs(value) >> 512 == 0)
    if kind is float:
        return math.isfinite(value)
    if kind in _PLAIN:
        return True
    if kind is dict:
        return all(_is_literal(one, room, depth + 1) for pair in value.items() for one in pair)
    return kind in _CONTAINERS and all(_is_literal(one, room, depth + 1) for one in value)
