"""The tool grep: lines of files by a regular expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import flag, number, text
from agentforge.tools.base import FLAG, TEXT, Observation, Tool, ToolContext, count_to, takes
from agentforge.workspace.files import search
from agentforge.workspace.files.search import PatternInvalid

_MOST_HITS = 100
_MOST_CONTEXT = 200
"""More is refused by the schema, aloud; what the text costs is bounded where it is shown."""


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    pattern = text(arguments, "pattern")
    path = _files.shown(context, _files.existing(context, text(arguments, "path", default=".")))
    try:
        result, note = _search(arguments, context, path, literal=False), ""
    except PatternInvalid:
        result, note = (
            _search(arguments, context, path, literal=True),
            "no regular expression: searched for as plain text",
        )
    result = replace(result, matches=tuple(match for match in result.matches if context.may_read(match.path)))
    hits = sum(not match.is_context for match in result.matches)
    files = len({match.path for match in result.matches})
    notes = [f"{hits} hit{'s' * (hits != 1)} in {files} file{'s' * (files != 1)} for {pattern}"]
    notes += [f"stopped at {result.stopped_at}: there are more"] * (result.stopped_at is not None) + [note] * bool(note)
    notes += ["searched without ripgrep"] * (result.engine == "python")
    return Observation(
        status="success",
        summary="; ".join(notes),
        text="\n".join(_rows(result)),
        artifacts=tuple(dict.fromkeys(match.path for match in result.matches)),
        next_actions=_next(result, hits),
    )


def _search(arguments: Mapping[str, object], context: ToolContext, path: str, *, literal: bool) -> search.SearchResult:
    return search.grep(
        context.root,
        text(arguments, "pattern"),
        path=path,
        ignore_case=flag(arguments, "case_insensitive"),
        literal=literal,
        context=number(arguments, "context", default=0),
        limit=context.limits.get("grep", _MOST_HITS),
    )


def _rows(result: search.SearchResult) -> Iterator[str]:
    """`path:` once, then its lines by number, a dash behind the number of a line that is only context."""
    path = ""
    for match in result.matches:
        if match.path != path:
            path = match.path
            yield f"{path}:"
        yield f"{match.line}{'-' if match.is_context else ':'} {match.text}"


def _next(result: search.SearchResult, hits: int) -> tuple[str, ...]:
    if not hits:
        return ("try a shorter pattern or case_insensitive",)
    return ("narrow it down by path or pattern",) if result.stopped_at is not None else ()


TOOL = Tool(
    name="grep",
    description="Search files by regular expression.",
    parameters=takes(
        "pattern", pattern=TEXT, path=TEXT, case_insensitive=FLAG, context={**count_to(_MOST_CONTEXT), "minimum": 0}
    ),
    effect="read",
    reads=lambda arguments: (text(arguments, "path", default="."),),
    run=_run,
)
