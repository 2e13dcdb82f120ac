"""The tool write_file: create a file or replace it whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import flag, text
from agentforge.tools.base import FLAG, TEXT, Observation, Tool, ToolContext, ToolError, failed, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    target = _files.place(context, text(arguments, "path"))
    path, content = _files.shown(context, target), text(arguments, "content")
    if target.exists():
        before = _files.read(context, path)
        _files.refuse_if_changed(context, path, before)
        if before.newline != "mixed":
            content = content.replace("\r\n", "\n")
        if before.text == content:
            return Observation(status="success", summary=f"{path} already holds exactly this", artifacts=(path,))
        note = _files.store(context, path, content, like=before)
        return _written(path, content, note, verb="replaced")
    if not target.parent.is_dir():
        if not flag(arguments, "create_directories", default=True):
            raise ToolError(failed(f"the folder of {path} does not exist", error_type="not-found"))
        target.parent.mkdir(parents=True)
    return _written(path, content, _files.store(context, path, content, like=None), verb="created")


def _written(path: str, content: str, note: str, *, verb: str) -> Observation:
    count = content.count("\n") + (not content.endswith("\n") and bool(content))
    done = Observation(
        status="success", summary=f"{verb} {path} ({count} lines)", text=note, artifacts=(path,), changed=(path,)
    )
    return replace(done, next_actions=(f"correct the syntax of {path}",)) if note else done


TOOL = Tool(
    name="write_file",
    description="Create or replace a whole file.",
    parameters=takes("path content", path=TEXT, content=TEXT, create_directories=FLAG),
    effect="write",
    run=_run,
    writes=lambda arguments: (text(arguments, "path"),),
)
