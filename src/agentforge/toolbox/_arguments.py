"""Typed reading of arguments that the schema has already checked."""

from __future__ import annotations

from collections.abc import Mapping


def text(arguments: Mapping[str, object], name: str, *, default: str = "") -> str:
    """A string argument."""
    return str(arguments.get(name, default))


def number(arguments: Mapping[str, object], name: str, *, default: int) -> int:
    """An integer argument."""
    value = arguments.get(name, default)
    return int(value) if isinstance(value, int | float) else default


def flag(arguments: Mapping[str, object], name: str, *, default: bool = False) -> bool:
    """A boolean argument."""
    return bool(arguments.get(name, default))


def texts(arguments: Mapping[str, object], name: str) -> tuple[str, ...]:
    """A list of strings; empty when it is missing."""
    value = arguments.get(name)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()
