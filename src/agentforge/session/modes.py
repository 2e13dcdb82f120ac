"""Plan, build: which tools a mode offers. Enforced at dispatch, because what is not offered cannot be called.

The instructions of a conversation: short, stable, the same for every provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from agentforge.tools.base import Tool

BUILD_TOOLS = (
    "read_file", "write_file", "append_file", "edit", "apply_patch", "git_diff", "shell", "list_dir", "grep", "glob",
    "todos", "memory", "web_search", "web_fetch", "git_status", "git_log", "git_show", "git_blame", "git_commit",
    "git_branch", "browser", "ask_human", "jobs", "refactor",
)  # fmt: skip
"""The built-in tools that a conversation offers, in the order in which a request describes them."""

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


WORK_MODES = ("build", "plan", "swarm", "swarm-build")


@cache
def prompt(name: str) -> str:
    """A text of the folder `prompts` beside this module, without its last line end."""
    return (Path(__file__).parent / "prompts" / f"{name}.md").read_text("utf-8").strip()


def bare_prompt(*, work_mode: str, workspace: str) -> str:
    """The fewest instructions with which an agent works safely."""
    return f"{prompt('bare')}\n{prompt('fence')}\nMode: {work_mode}. Workspace: {workspace}\n"


def subagent_prompt(*, goal_prompt: str, workspace: str) -> str:
    """The instructions of a subagent: those of its kind, nothing of the user's conversation."""
    parts = (prompt("subagent"), prompt("fence"), goal_prompt, f"Workspace: {workspace}")
    return "\n\n".join(part for part in parts if part) + "\n"


def system_prompt(*, work_mode: str, workspace: str, parts: Sequence[str] = ()) -> str:
    """Put the instructions together.

    Args:
        workspace: the folder that the agent works in.
        parts: what the user adds: instructions of the project, memory, skills; in this order.
    """
    own = [prompt("chat"), prompt("fence"), prompt(work_mode), f"Workspace: {workspace}"]
    return "\n\n".join([*own, *(part for part in parts if part)]) + "\n"
