"""Tools whose parameters are sent only when they are wanted: a model knows their names and searches for those that it needs.

A schema is sent with every request. What is rarely called, and what servers offer by the dozen, is named in the description of
`tool_search`; what was found there is described from then on. What was not found can be called all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from agentforge.messages import ToolSchema
from agentforge.tokens import count_tokens
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, takes
from agentforge.tools.dispatch.arguments import signature

SEARCH = "tool_search"
MOST_TOKENS = 2_000
_SHOWN = 8
_NAMED = 40
_PARTICLE = 2
_WORD = re.compile(r"[a-z0-9]+")


def deferred(tools: Mapping[str, Tool], *, most_tokens: int = MOST_TOKENS) -> dict[str, Tool]:
    """Let tools be searched for when their descriptions are long together."""
    if sum(count_tokens(f"{tool.description} {tool.parameters}") for tool in tools.values()) <= most_tokens:
        return dict(tools)
    return {name: replace(tool, deferred=True) for name, tool in tools.items()}


def searchable(tools: Mapping[str, Tool], *, found: object) -> dict[str, Tool]:
    """The tools with a search for those that were not found yet, where there are any.

    Args:
        found: names that were searched for before, as a session keeps them.
    """
    known = tuple(map(str, found)) if isinstance(found, list | tuple) else ()
    offered = {name: replace(tool, deferred=False) if name in known else tool for name, tool in tools.items()}
    hidden = {name: tool for name, tool in offered.items() if tool.deferred}
    return {**offered, SEARCH: _search(hidden, known)} if hidden else offered


def sent(tools: Mapping[str, Tool]) -> tuple[ToolSchema, ...]:
    """What a request describes."""
    return tuple(tool.schema for tool in tools.values() if not tool.deferred)


def _search(tools: Mapping[str, Tool], found: tuple[str, ...]) -> Tool:
    def run(arguments: Mapping[str, object], _context: ToolContext) -> Observation:
        hits = ranked(str(arguments["query"]), tools)[:_SHOWN]
        rows = [f"{name}: {tools[name].description[:300]}\n  {signature(tools[name])}" for name in hits]
        return Observation(
            status="success",
            summary=f"{len(hits)} of {len(tools)} tools; they are described from now on" if hits else "no tool fits",
            text="\n".join(rows),
            payload={"found_tools": sorted({*found, *hits})} if hits else None,
            next_actions=() if hits else (f"other words; there are {_named(tools)}",),
        )

    return Tool(
        name=SEARCH,
        description=f"Find more tools by words: {_named(tools)}.",
        parameters=takes("query", query=TEXT),
        effect="read",
        run=run,
    )


def ranked(query: str, tools: Mapping[str, Tool]) -> list[str]:
    """Names of the tools that fit, the best first: words of the name count more than those of the description."""
    words = set(_WORD.findall(query.lower()))
    wanted = {word for word in words if len(word) > _PARTICLE} or words
    points = {name: _points(wanted, name, tool.description) for name, tool in tools.items()}
    fitting = [name for name in tools if points[name]]
    return sorted(fitting, key=lambda name: -points[name])


def _points(wanted: set[str], name: str, description: str) -> int:
    names, words = set(_WORD.findall(name.lower())), set(_WORD.findall(description.lower()))
    return 3 * len(wanted & names) + len(wanted & words) + 5 * (name.lower() in wanted)


def _named(tools: Mapping[str, Tool]) -> str:
    """The tools in few words: those of a server by its name, the others by theirs, families together."""
    servers = list(dict.fromkeys(name.partition("__")[0] for name in tools if "__" in name))[:12]
    families: dict[str, list[str]] = {}
    for name in [name for name in tools if "__" not in name][:_NAMED]:
        family, _, member = name.partition("_")
        families.setdefault(family, []).append(member)
    names = [
        f"{family}_({', '.join(members)})" if len(members) > 1 else "_".join(filter(None, (family, members[0])))
        for family, members in families.items()
    ]
    return "; ".join([*names, *([f"servers: {', '.join(servers)}"] if servers else [])])
