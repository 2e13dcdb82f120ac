"""Plan, build: which tools a mode offers. Enforced at dispatch, because what is not offered cannot be called."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.tools.base import Tool

BUILD_TOOLS = (
    "read_file", "write_file", "append_file", "edit", "apply_patch", "git_diff", "shell", "list_dir", "grep", "glob",
    "todos", "memory", "web_search", "web_fetch",
)  # fmt: skip
"""The built-in tools of seed 003, in its order."""

_SWARM: Mapping[str, tuple[str, ...]] = {
    "swarm": ("subagent_swarm",),
    "swarm-build": ("subagent_writers", "merge_swarm"),
}
"""What the modes of the swarm add."""

_LOOKING = ("read", "ask", "submit")


def offered(tools: Mapping[str, Tool], *, work_mode: str) -> dict[str, Tool]:
    """The tools of a mode: all but build have only those that change nothing, the swarm's modes also their own."""
    own = _SWARM.get(work_mode, ())
    others = {name for names in _SWARM.values() for name in names} - set(own)
    return {
        name: tool
        for name, tool in tools.items()
        if name not in others and (work_mode == "build" or name in own or looks_only(tool))
    }


def looks_only(tool: Tool) -> bool:
    """Whether a tool changes nothing, neither here nor elsewhere."""
    return tool.effect in _LOOKING or tool.does in ("read-only", "git-read")
