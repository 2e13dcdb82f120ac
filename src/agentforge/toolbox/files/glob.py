"""The tool glob: files by a pattern of their paths."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, takes
from agentforge.workspace.files import search

_MOST = 200


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    pattern = text(arguments, "pattern")
    folder = _files.shown(context, _files.existing(context, text(arguments, "path", default=".")))
    found = search.glob(context.root, pattern, path=folder)
    most = context.limits.get("glob", _MOST)
    cut = f"; the first {most} are shown" if len(found) > most else ""
    return Observation(
        status="success",
        summary=f"{len(found)} files match {pattern}{cut}",
        text="\n".join(found[:most]),
        next_actions=() if found else (f"use a wider pattern, e.g. **/*{pattern.strip('*/').rpartition('/')[2]}*",),
    )


TOOL = Tool(
    name="glob",
    description="Files by path pattern (** crosses folders).",
    parameters=takes("pattern", pattern=TEXT, path=TEXT),
    effect="read",
    reads=lambda arguments: (text(arguments, "path", default="."),),
    run=_run,
)
