"""Plan, build: which tools a mode offers. Enforced at dispatch, because what is not offered cannot be called."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.tools.base import Tool

BUILD_TOOLS = (
    "read_file", "write_file", "append_file", "edit", "apply_patch", "git_diff", "shell", "list_dir", "grep", "glob",
    "todos", "memory", "web_search", "web_fetch",
)  # fmt: skip
"""The built-in tools of seed 003, in its order."""

BARE_TOOLS = ("read_file", "write_file", "edit", "shell", "list_dir", "grep", "glob")
"""What `run --bare` offers."""

_LOOKING = ("read", "ask", "submit")


def offered(tools: Mapping[str, Tool], *, work_mode: str) -> dict[str, Tool]:
    """The tools of a mode: all but build have only those that change nothing; the swarm's modes add their own."""
    if work_mode == "build":
        return dict(tools)
    return {name: tool for name, tool in tools.items() if looks_only(tool)}


def looks_only(tool: Tool) -> bool:
    """Whether a tool changes nothing, neither here nor elsewhere."""
    return tool.effect in _LOOKING or tool.does in ("read-only", "git-read")
