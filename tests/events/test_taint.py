"""Where untrusted text comes from, by the tool that brought it."""

from __future__ import annotations

import pytest

from agentforge.events.taint import source_of, with_source


@pytest.mark.parametrize(
    ("tool", "source"),
    [
        ("web_fetch", "web"),
        ("web_search", "web"),
        ("github__create_issue", "mcp"),
        ("subagent_explore", "subagent"),
        ("shell", "command output"),
        ("run_tests", "test output"),
        ("read_file", "repository"),
        ("a_tool_of_tomorrow", "repository"),
        ("edit", ""),
        ("submit_artifact", ""),
    ],
)
def test_every_tool_that_shows_foreign_text_has_a_source(tool: str, source: str) -> None:
    assert source_of(tool) == source


def test_sources_add_up_once_and_sorted() -> None:
    assert with_source(with_source(with_source((), "web"), "mcp"), "web") == ("mcp", "web")
    known = ("web",)
    assert with_source(known, "") is known
