"""The tool move_file: give a file another path, without writing its text anew."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.workspace.files.file_access import BinaryFile, TooLarge, read_text


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    source = _files.existing(context, text(arguments, "path"))
    target = _files.place(context, text(arguments, "to"))
    old, new = _files.shown(context, source), _files.shown(context, target)
    if not source.is_file():
        raise ToolError(failed(f"{old} is no file", error_type="no-regular-file", next_actions=("move its files",)))
    if target.exists():
        raise ToolError(failed(f"{new} exists already; nothing was moved", error_type="exists"))
    try:
        reason = context.may_hold(new, read_text(source).text)
    except (BinaryFile, TooLarge):
        reason = None
    if reason is not None:
        summary = f"{new} may not have this text in this stage; nothing was moved"
        raise ToolError(failed(summary, error_type="out-of-scope", text=reason))
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
    return Observation(status="success", summary=f"moved {old} to {new}", artifacts=(new,), changed=(old, new))


TOOL = Tool(
    name="move_file",
    description="Move or rename a file.",
    parameters=takes("path to", path=TEXT, to=TEXT),
    effect="write",
    run=_run,
    writes=lambda arguments: (text(arguments, "path"), text(arguments, "to")),
)
