"""The tools that ship with AgentForge, by area: one file is one tool, the file's name is the tool's name, `TOOL` is the tool."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

from agentforge.errors import ConfigError
from agentforge.tools.base import Tool


def names() -> list[str]:
    """List the names of all tools, sorted; nothing is imported."""
    return sorted(_areas())


def find(wanted: Iterable[str]) -> dict[str, Tool]:
    """Load the named tools, in the order in which they are named; only their own modules are imported.

    Raises:
        ConfigError: there is no tool of that name.
    """
    return {name: _load(name) for name in wanted}


@cache
def _areas() -> dict[str, str]:
    """The sub-package of each tool, by the tool's name."""
    return {file.stem: file.parent.name for file in Path(__file__).parent.glob("[!_]*/[!_]*.py")}


def _load(name: str) -> Tool:
    if name not in _areas():
        raise ConfigError(f"there is no tool {name!r}", hint=f"tools: {', '.join(names())}")
    tool: Tool = import_module(f"{__name__}.{_areas()[name]}.{name}").TOOL
    return tool
