"""The tool append_file: put text at the end of a file."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import flag, text
from agentforge.tools.base import FLAG, TEXT, Observation, Tool, ToolContext, ToolError, failed, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    target = _files.place(context, text(arguments, "path"))
    path = _files.shown(context, target)
    before = _files.read(context, path) if target.exists() else None
    if before is None and not flag(arguments, "create_if_missing", default=True):
        raise ToolError(failed(f"{path} does not exist", error_type="not-found", next_actions=("use write_file",)))
    if before is not None:
        _files.refuse_if_changed(context, path, before)
    old = before.text if before is not None else ""
    new = _joined(old, arguments, mixed=before is not None and before.newline == "mixed")
    target.parent.mkdir(parents=True, exist_ok=True)
    note = _files.store(context, path, new, like=before)
    return Observation(
        status="success",
        summary=f"appended {new.count(chr(10)) - old.count(chr(10))} lines to {path}",
        text=note,
        artifacts=(path,),
        changed=(path,),
    )


def _joined(old: str, arguments: Mapping[str, object], *, mixed: bool) -> str:
    content = text(arguments, "content")
    if not mixed:
        content = content.replace("\r\n", "\n")
    if old and not old.endswith("\n") and flag(arguments, "ensure_newline_before", default=True):
        old += "\n"
    if content and not content.endswith("\n") and flag(arguments, "ensure_trailing_newline", default=True):
        content += "\n"
    return old + content


TOOL = Tool(
    name="append_file",
    description="Append text to a file.",
    parameters=takes(
        "path content",
        path=TEXT,
        content=TEXT,
        ensure_newline_before=FLAG,
        ensure_trailing_newline=FLAG,
        create_if_missing=FLAG,
    ),
    effect="write",
    run=_run,
    writes=lambda arguments: (text(arguments, "path"),),
)
