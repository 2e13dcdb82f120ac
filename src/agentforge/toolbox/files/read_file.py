"""The tool read_file: numbered lines of one text file."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import number, text
from agentforge.tools.base import COUNT, TEXT, Observation, Tool, ToolContext, ToolError, failed, takes

_LINES = 400
_LONGEST_LINE = 1000


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    inside = context
    context = _files.reaching(context, text(arguments, "path"))
    path = _files.shown(context, _files.place(context, text(arguments, "path")))
    picture = _files.picture(context, path)
    if picture is not None:
        size = f"{len(picture.data):,} bytes"
        return Observation(
            status="success",
            summary=f"{path} is an image ({picture.media_type}, {size})",
            text=f"{path}: {picture.media_type}, {size}; the image itself follows the results",
            artifacts=(path,) if context is inside else (),
            pictures=(picture,),
        )
    offset, limit = number(arguments, "offset", default=1), number(arguments, "limit", default=_LINES)
    file = _files.read(context, path)
    lines = _lines(file.text)
    if offset > max(1, len(lines)):
        raise ToolError(_beyond(path, offset, len(lines)))
    part = lines[offset - 1 : offset - 1 + limit]
    last = offset + len(part) - 1
    summary = f"{path} lines {offset}-{last} of {len(lines)}" if lines else f"{path} is empty"
    more = (f"read_file {path} offset={last + 1} for the rest",) if last < len(lines) else ()
    here = context is inside  # a file outside the workspace is no file of its
    return Observation(
        status="success",
        summary=summary,
        text=_files.numbered([_short(line) for line in part], first=offset),
        artifacts=(path,) if here else (),
        next_actions=more,
        note=_files.encoding_note(path, file.text, encoding=file.encoding),
        view={"path": path, "offset": offset, "limit": limit} if here else None,
    )


def _lines(content: str) -> list[str]:
    lines = content.split("\n")
    return lines if lines[-1] else lines[:-1]


def _short(line: str) -> str:
    return (
        line
        if len(line) <= _LONGEST_LINE
        else f"{line[:_LONGEST_LINE]} ... {len(line) - _LONGEST_LINE} more characters"
    )


def _beyond(path: str, offset: int, count: int) -> Observation:
    return failed(
        f"{path} has {count} lines, offset {offset} lies beyond its end",
        error_type="beyond-end",
        next_actions=(f"read_file {path} with an offset of at most {count}",),
    )


TOOL = Tool(
    name="read_file",
    description="Lines of a file, numbered.",
    parameters=takes("path", path=TEXT, offset=COUNT, limit=COUNT),
    effect="read",
    reads=lambda arguments: (text(arguments, "path"),),
    run=_run,
)
