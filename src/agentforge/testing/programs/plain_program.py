"""Evaluates calls in plain processes and tells their results; which results are right is known to the caller alone.

Started as `python -`, with this text and its instructions on stdin. A supervisor that imports nothing of the project forks one
child for each group of calls. A child imports the project as any program would, evaluates, encodes what came by the built-in
types' own methods, and writes to a pipe of its own.
"""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH118, PTH120
from __future__ import annotations

import builtins
import json
import os
import select
import signal
import sys
import time
import types
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_DEPTH = 40
_ITEMS = 20_000
_STREAMED = 1_000
_EQUALITY = ("__eq__", "__ne__", "__class__", "__getattribute__")
_DONE = b"\n\n"


def main(setup: dict[str, Any]) -> None:
    """Run every group in a child of its own and pass on what the children wrote.

    Side effects: leaves by `os._exit`.
    """
    descriptor, nonce = _opened(setup)
    for number, group in enumerate(setup["groups"]):
        for _ in range(group["repeat"]):
            rows, ended = _forked(partial(_child, setup, group), descriptor, group["timeout_s"])
            record = {"group": number, "rows": rows, "ended": ended, "nonce": nonce}
            _write(descriptor, json.dumps(record).encode("ascii") + b"\n")
    _write(descriptor, json.dumps({"finished": True, "nonce": nonce}).encode("ascii") + b"\n")
    os._exit(0)


def _opened(setup: dict[str, Any]) -> tuple[int, str]:
    """Take the pipe to the caller and the nonce of its records out of the instructions; stdin is read no further."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    descriptor, nonce = setup.pop("descriptor"), setup.pop("nonce")
    os.set_inheritable(descriptor, False)
    return descriptor, nonce


def _forked(run: Callable[[int], None], descriptor: int, timeout_s: float) -> tuple[list[Any], str]:
    """Run something in a forked child, which writes to the pipe that it is given and leaves; see `_told_by`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.close(descriptor)
        os.setpgid(0, 0)
        run(writing)
    os.close(writing)
    return _told_by(child, reading, timeout_s)


def _told_by(child: int, reading: int, timeout_s: float) -> tuple[list[Any], str]:
    """Wait for a child and end what is left of it; returns its rows, and how it ended: done, ended early, or timed out."""
    data, late = _collected(reading, time.monotonic() + timeout_s)
    os.close(reading)
    for target in (-child, child):
        try:
            os.kill(target, signal.SIGKILL)
        except OSError:
            continue  # it is gone already
    os.waitpid(child, 0)
    rows = []
    for line in data.split(b"\n"):
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue  # the closing mark, or a line that was cut when the child ended
    return rows, "timed out" if late else "done" if data.endswith(_DONE) else "ended early"


def _collected(reading: int, until: float) -> tuple[bytes, bool]:
    """What a child wrote until it was done or gone, and whether its time was over."""
    data = b""
    while not data.endswith(_DONE):  # a thread of the project may keep the pipe open
        left = until - time.monotonic()
        if left <= 0:
            return data, True
        if select.select([reading], [], [], left)[0]:
            chunk = os.read(reading, 65_536)
            if not chunk:
                break
            data += chunk
    return data, False


def _child(setup: dict[str, Any], group: dict[str, Any], writing: int) -> None:
    """Evaluate the calls of a group and leave. Never returns."""
    write, leave, dumps = _write, os._exit, json.dumps
    encode, evaluate = _encoder(), _evaluator()
    try:
        _enter(setup)
        for call in group["calls"]:
            write(writing, dumps(evaluate(call, encode)).encode("ascii") + b"\n")
        write(writing, b"\n")
    finally:
        leave(0)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _enter(setup: dict[str, Any]) -> None:
    """Look like any program that is started in the project's folder."""
    root = setup["root"]
    front = [os.path.normpath(os.path.join(root, entry)) for entry in setup["roots"]] + list(setup["pythonpath"])
    sys.path[:] = front + [entry for entry in sys.path if entry]
    if setup.get("user_site"):
        import site

        site.addsitedir(setup["user_site"])
    sys.argv = [""]
    fresh = types.ModuleType("__main__")
    fresh.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = fresh
    os.chdir(root)
    os.environ["PYTHONPATH"] = os.pathsep.join(front)


def _evaluator() -> Callable[[dict[str, Any], Callable[[Any], Any]], dict[str, Any]]:
    """A function that evaluates one call; what it needs is captured before the project is imported."""
    compiled, evaluated, taken, kind = compile, eval, getattr, type
    bases, name_of = type.__dict__["__mro__"].__get__, type.__dict__["__name__"].__get__
    known = {name: value for name, value in vars(builtins).items() if isinstance(value, type)}
    coroutine, loaded = types.CoroutineType, sys.modules

    def evaluate(call: dict[str, Any], encode: Callable[[Any], Any]) -> dict[str, Any]:
        names: dict[str, Any] = {}
        stage = "import"
        try:
            for name, (modules, attribute) in call["names"].items():
                module = _imported(modules)
                if module is None:
                    return {"lost": modules}
                names[name] = taken(module, attribute) if attribute else loaded.get(name, module)
            stage = "call"
            value = evaluated(compiled(call["source"], "<stdin>", "eval"), {"__name__": "__main__", **names})
            if kind(value) is coroutine:
                import asyncio

                value = asyncio.run(value)
            return {"value": encode(value)}
        except BaseException as exc:  # noqa: BLE001 - whatever the project raises is the result
            found = [[name_of(one), known.get(name_of(one)) is one] for one in bases(kind(exc))]
            return {"raised": found, "stage": stage, "message": _message(exc)}

    return evaluate


def _imported(modules: list[str]) -> Any:
    """Import the first of the spellings of a module that exists; None when there is none."""
    import importlib

    for name in modules:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as exc:
            missing = exc.name or ""
            if not missing or not (name == missing or name.startswith(missing + ".")) or missing in sys.modules:
                raise
    return None


def _message(exc: BaseException) -> str:
    try:
        return str(exc)[:300]
    except Exception as problem:  # noqa: BLE001 - the project's __str__ may raise anything
        return "<message cannot be shown: " + type(problem).__name__ + ">"


def _encoder() -> Callable[[Any], Any]:
    """A function that tells type and value of an object without asking the object or its class."""
    kind = type
    name_of, bases = type.__dict__["__name__"].__get__, type.__dict__["__mro__"].__get__
    plain, containers, pairs = _plain_types(), _container_types(), dict.items
    iterators, number = {id(one) for one in _iterator_types()}, _numbers()
    room = [_ITEMS]

    def encode(value: Any, depth: int = 0) -> list[Any]:
        room[0] -= 1
        exact = kind(value)
        if depth > _DEPTH or room[0] < 0:
            return ["too much"]
        if id(exact) in plain:
            return [name_of(exact), plain[id(exact)](value)]
        if id(exact) in containers:
            return [name_of(exact), [encode(one, depth + 1) for one in containers[id(exact)](value)]]
        if exact is dict:
            return ["dict", [[encode(key, depth + 1), encode(one, depth + 1)] for key, one in pairs(value)]]
        if id(exact) in iterators:
            first = [one for _, one in zip(range(_STREAMED), value)]  # noqa: B905 - Python 3.8 has no strict
            return ["iterator", name_of(exact), [encode(one, depth + 1) for one in first]]
        for base in bases(exact):
            if id(base) in plain or id(base) in containers or base is dict:
                like, faithful = _nature(exact, base)
                return ["subclass", name_of(exact), like, faithful, encode(_bare(value, base), depth + 1)]
        text = number(value, exact)
        if text is not None:
            return ["object", name_of(exact), False, ["number", text]]
        items = _items(value, bases(exact))
        told = None if items is None else encode(items, depth + 1)
        return ["object", name_of(exact), _equals_anything(value), told]

    return encode


def _numbers() -> Callable[[Any, type], str | None]:
    """A function that writes a decimal number or a fraction of the standard library; None of any other object.

    Their modules are not imported here: a project may have modules of its own with the names of what those import.
    """
    home, loaded, taken = os.path.dirname(os.__file__), sys.modules, getattr

    def number(value: Any, exact: type) -> str | None:
        for name, attribute in (("decimal", "Decimal"), ("fractions", "Fraction")):
            module = loaded.get(name)
            if module is not None and taken(module, attribute, None) is exact:
                ours = os.path.dirname(taken(module, "__file__", None) or "") == home
                return written(value) if ours else None
        return None

    def written(value: Any) -> str | None:
        try:
            return str(value)
        except ValueError:  # a fraction of more digits than Python writes
            return None

    return number


def _items(value: Any, classes: tuple[type, ...]) -> Any:
    """What an object of a class of sequences, sets or mappings holds, as a list or dictionary; None of any other object.

    Here the object is asked: what it says counts only where the base has given an object of the same class for the same call.
    """
    from collections.abc import Mapping, Sequence, Set

    try:
        if any(one is Mapping for one in classes):
            return {key: value[key] for _, key in zip(range(_STREAMED), value)}  # noqa: B905 - Python 3.8 has no strict
        if any(one is Sequence or one is Set for one in classes):
            return [one for _, one in zip(range(_STREAMED), value)]  # noqa: B905 - Python 3.8 has no strict
    except Exception:  # noqa: BLE001 - the project's classes may raise anything
        return None
    return None


def _nature(exact: type, base: type) -> tuple[bool, bool]:
    """Whether a subclass is as good as its base (of the standard library, a named tuple), and whether it compares like it."""
    bases, inside = type.__dict__["__mro__"].__get__, type.__dict__["__dict__"].__get__
    trusted = _trusted_types()
    known = {id(one) for one in (*bases(base), *trusted)}
    faithful = not any(name in inside(one) for one in bases(exact) if id(one) not in known for name in _EQUALITY)
    named = bases(exact)[1] is tuple and "_fields" in inside(exact)
    return any(exact is one for one in trusted) or (named and faithful), faithful


def _plain_types() -> dict[int, Callable[[Any], Any]]:
    table: dict[Any, Callable[[Any], Any]] = {
        bool: lambda value: value is True, int: lambda value: int.__format__(value, "x"), float: float.__repr__,
        complex: complex.__repr__, str: str.__str__, bytes: bytes.hex, bytearray: bytearray.hex,
        type(None): lambda value: None, type(...): lambda value: None,
    }  # fmt: skip
    return {id(one): tell for one, tell in table.items()}


def _container_types() -> dict[int, Callable[[Any], Any]]:
    table: dict[Any, Callable[[Any], Any]] = {
        list: list.__iter__, tuple: tuple.__iter__, set: set.__iter__, frozenset: frozenset.__iter__,
    }  # fmt: skip
    return {id(one): walk for one, walk in table.items()}


def _trusted_types() -> tuple[type, ...]:
    import collections
    import enum

    return (collections.OrderedDict, collections.defaultdict, collections.Counter, enum.Enum, enum.Flag)


def _iterator_types() -> set[type]:
    import itertools

    found: set[Any] = {
        types.GeneratorType,
        type(iter([])),
        type(iter(())),
        type({}.keys()),
        type({}.values()),
        type({}.items()),
    }
    found |= {range, map, filter, zip, enumerate, reversed, itertools.chain, itertools.islice}
    return found | {itertools.takewhile, itertools.dropwhile}


def _bare(value: Any, base: Any) -> Any:
    """The built-in value inside an object of a subclass, by the methods of the built-in type."""
    if base is dict:
        return dict(dict.items(value))
    if base in (list, tuple, set, frozenset):
        return base(base.__iter__(value))
    if base is str:
        return str.__str__(value)
    if base in (int, float):
        return base.__int__(value) if base is int else base.__float__(value)
    return base(memoryview(value)) if base in (bytes, bytearray) else base(value)


def _equals_anything(value: Any) -> bool:
    """Whether an object says that it equals things that nobody would expect."""
    decoys = ("\0 decoy", -987_654_321, -9.87654321e30, b"\0 decoy", ["\0 decoy"], ("\0 decoy",), {"\0 decoy": 0},
              {"\0 decoy"}, type("Decoy", (), {})())  # fmt: skip
    for decoy in decoys:
        try:
            if value == decoy or (value != decoy) is False:
                return True
        except Exception:  # noqa: BLE001, S112 - a comparison that raises says nothing
            continue
    return False
