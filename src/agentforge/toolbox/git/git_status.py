"""The tool git_status: branch, staged, changed and untracked files."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox.git import _git
from agentforge.tools.base import Observation, Tool, ToolContext, takes

_MOST = 200


def _run(_arguments: Mapping[str, object], context: ToolContext) -> Observation:
    given = _git.output(context, "status", "--porcelain=v1", "--branch", "--ignore-submodules=dirty", "--untracked=all")
    branch, *files = given.splitlines() or ["##"]
    cut = f"; the first {_MOST} are shown" if len(files) > _MOST else ""
    return Observation(
        status="success",
        summary=f"{branch.removeprefix('## ')}: {len(files) or 'no'} changed files{cut}",
        text="\n".join(files[:_MOST]),
    )


TOOL = Tool(
    name="git_status",
    description="Branch and changed files.",
    parameters=takes(),
    effect="read",
    does="git-read",
    run=_run,
)
