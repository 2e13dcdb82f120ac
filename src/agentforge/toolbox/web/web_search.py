"""The tool web_search: pages that a search engine knows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from agentforge.errors import ModelNotConfigured
from agentforge.installation import command_for
from agentforge.models import proxy_for
from agentforge.toolbox._arguments import number, text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, count_to, failed, takes

_RESULTS = 5
_MOST_RESULTS = 20
_TIMEOUT_S = 15
_ENGINE = "https://duckduckgo.com"


def _run(arguments: Mapping[str, object], _context: ToolContext) -> Observation:
    query = text(arguments, "query").strip()
    if not query:
        raise ToolError(failed("the query is empty", error_type="bad-arguments"))
    return listed(query, _found(query, number(arguments, "max_results", default=_RESULTS)))


def _found(query: str, count: int) -> Sequence[Mapping[str, object]]:
    try:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException
    except ImportError as exc:
        raise ToolError(
            failed(
                f"searching needs libraries that are not installed: {command_for('web')}",
                error_type="not-installed",
                retryable=False,
            )
        ) from exc
    try:
        made = DDGS(timeout=_TIMEOUT_S, proxy=_proxy(), verify=os.environ.get("SSL_CERT_FILE") or True)
        found: Sequence[Mapping[str, object]] = made.text(query, max_results=count)
    except DDGSException as exc:
        if "no results" in str(exc).lower():
            return ()
        raise ToolError(failed(f"the search failed: {exc}", error_type="network")) from exc
    return found


def _proxy() -> str | None:
    """The proxy that the environment names; the library itself knows a variable of its own only."""
    from urllib.parse import urlsplit

    try:
        found = proxy_for(urlsplit(_ENGINE))
    except ModelNotConfigured as exc:
        raise ToolError(failed(str(exc), error_type="proxy", retryable=False)) from exc
    return found.geturl() if found is not None else None


def listed(query: str, found: Sequence[Mapping[str, object]]) -> Observation:
    """Show what was found: title, address, words."""
    rows = [f"{item.get('title', '')}\n  {item.get('href', '')}\n  {item.get('body', '')}" for item in found]
    return Observation(
        status="success",
        summary=f"{len(rows)} results for {query}",
        text="\n".join(rows),
        next_actions=("web_fetch one of them",) if rows else ("use other words",),
    )


TOOL = Tool(
    name="web_search",
    description="Search the web.",
    parameters=takes("query", query=TEXT, max_results=count_to(_MOST_RESULTS)),
    effect="network",
    run=_run,
)
