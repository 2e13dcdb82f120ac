"""Where untrusted text comes from, by the tool that brought it."""

from __future__ import annotations

import pytest

from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.fold.workspace_view import source_of, with_source
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import decode_state, encode_state


@pytest.mark.parametrize(
    ("tool", "source"),
    [
        ("web_fetch", "web"),
        ("web_search", "web"),
        ("browser", "web"),
        ("github__create_issue", "mcp"),
        ("mcp_read_resource", "mcp"),
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


def test_a_run_remembers_what_it_has_read_over_a_resume() -> None:
    at = "2026-01-01T00:00:00Z"
    state = evolve(RunState(), kinds.StageStarted(stage="intake", attempt=1), at=at)
    assert state.progress.untrusted == ()
    result = kinds.ToolFinished(step=1, index=0, call_id="c", name="web_fetch", status="success", summary="", text="x")
    for event in (kinds.StageStarted(stage="spec", attempt=1, material="d"), result, kinds.RunResumed(pid=1)):
        state = evolve(state, event, at=at)
    assert state.progress.untrusted == ("repository", "web")
    assert decode_state(encode_state(state)).progress.untrusted == ("repository", "web")
