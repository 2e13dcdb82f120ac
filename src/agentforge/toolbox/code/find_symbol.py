"""The tool find_symbol: where a name is defined, referenced or called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.workspace.code.codemap import Found, Relation, find

_MOST = 60


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    name = text(arguments, "name").strip().removesuffix("()")
    if not name.replace(".", "").replace("_", "").isalnum():
        raise ToolError(
            failed(f"{name!r} is no name", error_type="bad-arguments", next_actions=("use grep for patterns",))
        )
    kind = cast("Relation", text(arguments, "kind", default="definitions"))
    found = find(context.root, name, kind=kind, limit=context.limits.get("find_symbol", _MOST))
    cut = f"; stopped at {found.stopped_at}: there are more" if found.stopped_at is not None else ""
    return Observation(
        status="success",
        summary=f"{len(found.places)} {kind} of {name}{cut}",
        text="\n".join([*(_row(found, number) for number in range(len(found.places))), *found.notes]),
        artifacts=tuple(dict.fromkeys(place.path for place in found.places)),
        next_actions=() if found.places else (f"grep {name}",),
    )


def _row(found: Found, number: int) -> str:
    place = found.places[number]
    inside = f" in {place.enclosing}" if place.enclosing else ""
    return f"{place.path}:{place.line}{inside}: {place.text}"


TOOL = Tool(
    name="find_symbol",
    description="Where a name is defined, used or called.",
    parameters=takes("name", name=TEXT, kind={"enum": ["definitions", "references", "callers"]}),
    effect="read",
    run=_run,
)
