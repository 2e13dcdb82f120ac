"""The tool git_diff: what changed in the workspace since the task's base commit, or what is staged."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import flag, number, text
from agentforge.toolbox.git import _git
from agentforge.tools.base import COUNT, FLAG, TEXT, Observation, Tool, ToolContext, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    asked = text(arguments, "path")
    path = _files.shown(context, _files.place(context, asked)) if asked else ""
    patch = _patch(arguments, context, "" if path == "." else path)
    lines = patch.splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    files = sum(line.startswith("diff --git ") for line in lines)
    summary = (
        f"{files} files changed, {added} lines added, {removed} removed" if patch.strip() else "nothing has changed"
    )
    return Observation(status="success", summary=summary, text=_cut(patch, number(arguments, "max_bytes", default=0)))


def _patch(arguments: Mapping[str, object], context: ToolContext, path: str) -> str:
    if flag(arguments, "staged"):
        return _git.output(context, "diff", "--cached", *_git.PLAIN_DIFF, paths=(path,) if path else ())
    if not flag(arguments, "include_untracked", default=True):
        return _git.output(context, "diff", "HEAD", *_git.PLAIN_DIFF, paths=(path,) if path else ())
    return context.git_diff(path)


def _cut(patch: str, most: int) -> str:
    data = patch.encode("utf-8", "surrogateescape")
    if not most or len(data) <= most:
        return patch
    return f"{data[:most].decode('utf-8', 'ignore')}\n... {len(data) - most:,} bytes omitted"


TOOL = Tool(
    name="git_diff",
    description="Changes since the base commit.",
    parameters=takes(path=TEXT, staged=FLAG, include_untracked=FLAG, max_bytes=COUNT),
    effect="read",
    reads=lambda arguments: (text(arguments, "path", default="."),),
    run=_run,
)
