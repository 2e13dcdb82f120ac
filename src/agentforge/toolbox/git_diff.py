"""The tool git_diff: what changed in the workspace since the task's base commit."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    asked = text(arguments, "path")
    path = _files.shown(context, _files.place(context, asked)) if asked else ""
    patch = context.git_diff("" if path == "." else path)
    lines = patch.splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    files = sum(line.startswith("diff --git ") for line in lines)
    summary = (
        f"{files} files changed, {added} lines added, {removed} removed" if patch.strip() else "nothing has changed"
    )
    return Observation(status="success", summary=summary, text=patch)


TOOL = Tool(
    name="git_diff",
    description="Changes since the base commit.",
    parameters=takes(path=TEXT),
    effect="read",
    reads=lambda arguments: (text(arguments, "path", default="."),),
    run=_run,
)
