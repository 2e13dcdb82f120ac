"""The tool git_log: commits, the newest first."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import number, text
from agentforge.toolbox.git import _git
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, count_to, takes

_MOST = 200
_FORMAT = "--format=%h %ad %an: %s"


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    start = _git.revision(context, text(arguments, "revision"))
    count = number(arguments, "limit", default=20)
    path = text(arguments, "path")
    given = _git.output(
        context, "log", "--no-show-signature", "--no-color", "--date=short", _FORMAT, f"--max-count={count + 1}", start,
        paths=(path,) if path else (),
    )  # fmt: skip
    lines = given.splitlines()
    more = f"; the first {count} are shown" if len(lines) > count else ""
    return Observation(
        status="success", summary=f"{min(len(lines), count)} commits{more}", text="\n".join(lines[:count])
    )


TOOL = Tool(
    name="git_log",
    description="Commits, newest first.",
    parameters=takes(revision=TEXT, path=TEXT, limit=count_to(_MOST)),
    effect="read",
    does="git-read",
    run=_run,
)
