"""The tool outline: the definitions of a file, or of the files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, takes
from agentforge.workspace.code.codemap import Outline, Symbol, definitions
from agentforge.workspace.files import search

_MOST_FILES = 60


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    target = _files.existing(context, text(arguments, "path", default="."))
    path = _files.shown(context, target)
    names = search.files(context.root, path=path) if target.is_dir() else [path]
    outlines = definitions(context.root, names)
    cut = f"; the first {_MOST_FILES} files are shown" if len(outlines) > _MOST_FILES else ""
    outlines = outlines[:_MOST_FILES]
    count = sum(len(item.symbols) for item in outlines)
    rows = [row for item in outlines for row in _rows(item, whole=not target.is_dir())]
    return Observation(
        status="success",
        summary=f"{path}: {count} definitions{cut}" if outlines else f"{path} holds no source of a known language",
        text="\n".join(rows),
        artifacts=(path,),
        next_actions=() if outlines else (f"read_file {path}",),
    )


def _rows(outline: Outline, *, whole: bool) -> Iterator[str]:
    """One line a definition, indented by depth; of a folder's files only what stands at the top."""
    yield f"{outline.path}:" + (f" ({outline.note})" if outline.note else "")
    for symbol in outline.symbols:
        if whole or (not symbol.parent and symbol.kind != "variable"):
            yield _row(symbol)


def _row(symbol: Symbol) -> str:
    depth = symbol.parent.count(".") + 1 if symbol.parent else 0
    doc = f"  # {symbol.doc}" if symbol.doc else ""
    return f"{'  ' * depth}{symbol.line}-{symbol.end_line} {symbol.signature}{doc}"


TOOL = Tool(
    name="outline",
    description="Definitions of a file or folder, with lines.",
    parameters=takes("path", path=TEXT),
    effect="read",
    reads=lambda arguments: (text(arguments, "path"),),
    run=_run,
)
