"""Plan, build: which tools a mode offers. Enforced at dispatch, because what is not offered cannot be called."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.tools.base import Tool

BUILD_TOOLS = (
    "read_file", "write_file", "append_file", "edit", "apply_patch", "git_diff", "shell", "list_dir", "grep", "glob",
    "todos", "memory", "web_search", "web_fetch", "git_status", "git_log", "git_show", "git_blame", "git_commit",
    "git_branch", "browser", "ask_human", "jobs", "refactor",
)  # fmt: skip
"""The built-in tools of seed 003, in its order, and those that it plans."""

PLAN_TOOLS = ("submit_plan",)
"""The built-in tools that plan mode alone offers."""

SELDOM_CALLED = frozenset(
    {
        "memory", "web_search", "web_fetch", "git_status", "git_log", "git_show", "git_blame", "git_commit", "git_branch",
        "browser", "refactor", "subagent_explore", "subagent_debugger", "subagent_codebase_investigator",
        "subagent_code_reviewer", "subagent_test_planner", "subagent_architect",
    }
)  # fmt: skip
"""What most conversations never call: named in every request, described once it was searched for."""

BARE_TOOLS = ("read_file", "write_file", "edit", "shell", "list_dir", "grep", "glob")
"""What `run --bare` offers."""

LOOKING_MODES = ("plan", "swarm")
"""The modes in which nothing is changed."""

_LOOKING = ("read", "ask", "submit")
_HARMLESS = ("read-only", "git-read")


def offered(tools: Mapping[str, Tool], *, work_mode: str) -> dict[str, Tool]:
    """The tools of a mode: all but build have only those that change nothing; the swarm's modes add their own."""
    mine = {name: tool for name, tool in tools.items() if work_mode == "plan" or name not in PLAN_TOOLS}
    if work_mode == "build":
        return mine
    return {name: tool for name, tool in mine.items() if looks_only(tool)}


def looks_only(tool: Tool) -> bool:
    """Whether a tool changes nothing, neither here nor elsewhere."""
    return tool.looks or tool.effect in _LOOKING or tool.does in _HARMLESS


def only_looking(tool: Tool, arguments: Mapping[str, object]) -> bool:
    """Whether this very call changes nothing: a tool that mostly looks may be asked to write."""
    acts = tool.acts(arguments)
    return acts in _HARMLESS if acts else looks_only(tool)
