"""The tool git_blame: who wrote which line, and in which commit."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import number, text
from agentforge.toolbox.git import _git
from agentforge.tools.base import COUNT, TEXT, Observation, Tool, ToolContext, takes

_LINES = 200


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    path = _files.shown(context, _files.existing(context, text(arguments, "path")))
    offset, limit = number(arguments, "offset", default=1), number(arguments, "limit", default=_LINES)
    lines = (f"-L{offset},+{limit}",)
    top = _git.repository(context).top
    target = _files.place(context, path).relative_to(top).as_posix()
    given = _git.repository(context).command.output(
        "blame", "--no-textconv", "--date=short", "--abbrev=8", *lines, "--", target
    )
    return Observation(
        status="success", summary=f"{path} from line {offset}", text=given.decode("utf-8", "replace"), artifacts=(path,)
    )


TOOL = Tool(
    name="git_blame",
    description="Who last changed each line.",
    parameters=takes("path", path=TEXT, offset=COUNT, limit=COUNT),
    effect="read",
    does="git-read",
    reads=lambda arguments: (text(arguments, "path"),),
    run=_run,
)
