"""The tool list_dir: the entries of one folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import flag, text
from agentforge.tools.base import FLAG, TEXT, Observation, Tool, ToolContext, ToolError, failed, takes

_MOST = 200
_CLOSED = frozenset({".git", ".agentforge"})


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    target = _files.existing(context, text(arguments, "path", default="."))
    path = _files.shown(context, target)
    if not target.is_dir():
        raise ToolError(failed(f"{path} is a file", error_type="is-a-file", next_actions=(f"read_file {path}",)))
    hidden = flag(arguments, "include_hidden")
    entries = [
        item for item in target.iterdir() if item.name not in _CLOSED and (hidden or not item.name.startswith("."))
    ]
    lines = [_line(item) for item in sorted(entries, key=lambda item: (not item.is_dir(), item.name))]
    cut = f"; the first {_MOST} are shown" if len(lines) > _MOST else ""
    return Observation(
        status="success",
        summary=f"{path}: {len(lines)} entries{cut}",
        text="\n".join(lines[:_MOST]),
        next_actions=(f"glob {path}/* to narrow it down",) if cut else (),
    )


def _line(item: Path) -> str:
    if item.is_symlink():
        return f"{item.name} -> {item.readlink()}"
    return f"{item.name}/" if item.is_dir() else f"{item.name} ({item.stat().st_size:,} bytes)"


TOOL = Tool(
    name="list_dir",
    description="Entries of a folder.",
    parameters=takes(path=TEXT, include_hidden=FLAG),
    effect="read",
    reads=lambda arguments: (text(arguments, "path", default="."),),
    run=_run,
)
