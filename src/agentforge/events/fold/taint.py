"""Where text that nobody vouches for enters a run. Folded from the events, so that it outlives the process. Pure.

Everything that the user did not say counts: a repository's own files, the output of commands and tests, web pages, results
of MCP servers and reports of subagents. A run never becomes clean again.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

REPOSITORY = "repository"

_SOURCES = (
    ("web_*", "web"),
    ("subagent_*", "subagent"),
    ("browser", "web"),
    ("*__*", "mcp"),
    ("mcp_*", "mcp"),
    ("shell", "command output"),
    ("jobs", "command output"),
    ("run_tests", "test output"),
    ("run_checks", "checker output"),
)
_OWN_WORDS = frozenset(
    {"write_file", "append_file", "edit", "apply_patch", "refactor", "submit_artifact", "ask_human", "todos", "memory"}
)


def source_of(tool: str) -> str:
    """Name the kind of text that a tool shows to the model, "" when it only repeats the model's own words.

    A tool that is not known reads the repository, or worse.
    """
    if tool in _OWN_WORDS:
        return ""
    return next((source for pattern, source in _SOURCES if fnmatchcase(tool, pattern)), REPOSITORY)


def with_source(known: tuple[str, ...], source: str) -> tuple[str, ...]:
    """Add a source; the same tuple when there is nothing new."""
    return known if not source or source in known else tuple(sorted((*known, source)))
