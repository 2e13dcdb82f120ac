"""When servers offer more tools than a request should carry: a model searches for those that it needs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from agentforge.tokens import count_tokens
from agentforge.tools.arguments import signature
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, takes

MOST_TOKENS = 2_000
_SHOWN = 8
_WORD = re.compile(r"[a-z0-9]+")


def deferred(tools: Mapping[str, Tool], *, found: Collection[str], most_tokens: int = MOST_TOKENS) -> dict[str, Tool]:
    """Offer all tools when their descriptions are short together, else those that were found and a search for the others.

    Args:
        found: names that were searched for before.
    """
    if sum(count_tokens(f"{tool.description} {tool.parameters}") for tool in tools.values()) <= most_tokens:
        return dict(tools)
    offered = {name: tool for name, tool in tools.items() if name in found}
    return {**offered, "tool_search": _search(tools, tuple(offered))}


def _search(tools: Mapping[str, Tool], found: tuple[str, ...]) -> Tool:
    def run(arguments: Mapping[str, object], _context: ToolContext) -> Observation:
        hits = ranked(str(arguments["query"]), tools)[:_SHOWN]
        rows = [f"{name}: {tools[name].description[:300]}\n  {signature(tools[name])}" for name in hits]
        return Observation(
            status="success",
            summary=f"{len(hits)} of {len(tools)} tools; they can be called from now on" if hits else "no tool fits",
            text="\n".join(rows),
            payload={"found_tools": sorted({*found, *hits})} if hits else None,
            next_actions=() if hits else (f"other words; servers: {', '.join(_servers(tools))}",),
        )

    return Tool(
        name="tool_search",
        description=f"Find more tools by words; servers: {', '.join(_servers(tools))}.",
        parameters=takes("query", query=TEXT),
        effect="read",
        run=run,
    )


def ranked(query: str, tools: Mapping[str, Tool]) -> list[str]:
    """Names of the tools that fit, the best first: words of the name count more than those of the description."""
    wanted = set(_WORD.findall(query.lower()))
    points = {name: _points(wanted, name, tool.description) for name, tool in tools.items()}
    fitting = [name for name in tools if points[name]]
    return sorted(fitting, key=lambda name: -points[name])


def _points(wanted: set[str], name: str, description: str) -> int:
    names, words = set(_WORD.findall(name.lower())), set(_WORD.findall(description.lower()))
    return 3 * len(wanted & names) + len(wanted & words) + 5 * (name.lower() in wanted)


def _servers(tools: Mapping[str, Tool]) -> list[str]:
    return list(dict.fromkeys(name.partition("__")[0] for name in tools if "__" in name))[:12]
