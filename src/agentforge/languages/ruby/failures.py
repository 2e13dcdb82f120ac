"""Reads what Ruby says of an exception: its kind, the place in the project, the symbols that it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentforge.testing.outcome import MESSAGE_LIMIT, Failure

_TEXT_LIMIT = 1500
_FRAME = re.compile(r"^(/[^:\n]+):(\d+)(?::in .*)?$", re.MULTILINE)
_SYMBOLS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("NameError", "ImportError", re.compile(r"uninitialized constant (?:[\w:]*::)?(\w+)")),
    ("NoMethodError", "AttributeError", re.compile(r"undefined method [`'](\w+[?!=]?)'")),
    ("NameError", "NameError", re.compile(r"undefined local variable or method [`'](\w+[?!]?)'")),
    ("LoadError", "ModuleNotFoundError", re.compile(r"cannot load such file -- (\S+)")),
)
_CALLED = re.compile(r":in [`'](?:[\w:]+[.#])?(\w+[?!=]?)'")


def failure_of(error: Mapping[str, Any], *, root: str, test_file: str) -> Failure:
    """Describe an exception that the program sent: {name, message, trace}.

    The kinds are those that judge a failure everywhere: a missing constant is an ImportError, a missing file a
    ModuleNotFoundError, a missing method an AttributeError, wrong arguments a TypeError.
    """
    name, message, trace = (str(error.get(key) or "") for key in ("name", "message", "trace"))
    path, line = _place(trace, root)
    kind, names = _kind(name, message, trace, root)
    text = f"{name}: {message}\n{trace}".replace(f"{root}/", "")
    said = message if kind in ("AssertionError", name) else f"{name}: {message}"
    return Failure(
        exc_type=kind,
        message=said.replace(f"{root}/", "")[:MESSAGE_LIMIT] or "it failed",
        file=path,
        line=line,
        in_test=bool(path) and path == test_file,
        names=names,
        text=text[:_TEXT_LIMIT],
    )


def _place(trace: str, root: str) -> tuple[str, int]:
    """The innermost frame that belongs to the project."""
    for path, line in _FRAME.findall(trace):
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :], int(line)
    return "", 0


def _kind(name: str, message: str, trace: str, root: str) -> tuple[str, tuple[str, ...]]:
    if name == "Minitest::Assertion":
        return "AssertionError", ()
    for raised, kind, pattern in _SYMBOLS:
        found = pattern.search(message) if name == raised else None
        if found is not None:
            word = found[1].removeprefix(f"{root}/").removesuffix(".rb").lstrip("./")
            return kind, (word.replace("/", "."),)
    if name == "ArgumentError" and re.match(r"wrong number of arguments|unknown keyword|missing keyword", message):
        called = _CALLED.search(trace)
        return "TypeError", (called[1],) if called is not None else ()
    return name or "Error", ()
