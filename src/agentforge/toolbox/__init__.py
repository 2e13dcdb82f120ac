"""The tools that ship with AgentForge: one file is one tool, the file's name is the tool's name, `TOOL` is the tool."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from agentforge.errors import ConfigError
from agentforge.tools.base import Tool


def names() -> list[str]:
    """List the names of all tools, sorted; nothing is imported."""
    return sorted(file.stem for file in Path(__file__).parent.glob("*.py") if not file.stem.startswith("_"))


def find(wanted: Iterable[str]) -> dict[str, Tool]:
    """Load the named tools, in the order in which they are named; only their own modules are imported.

    Raises:
        ConfigError: there is no tool of that name.
    """
    return {name: _load(name) for name in wanted}


def _load(name: str) -> Tool:
    try:
        tool: Tool = import_module(f"{__name__}.{name}").TOOL
    except (ModuleNotFoundError, AttributeError) as exc:
        raise ConfigError(f"there is no tool {name!r}", hint=f"tools: {', '.join(names())}") from exc
    return tool
