"""Tools that are searched for: named in a few words, described when they are wanted, callable all the same."""

from __future__ import annotations

from agentforge import toolbox
from agentforge.app.tools.catalogue import seldom_described
from agentforge.session.modes import BUILD_TOOLS
from agentforge.tools.base import Observation, Tool
from agentforge.tools.dispatch.deferral import deferred, ranked, searchable, sent


def _tools(count: int, words: int) -> dict[str, Tool]:
    def run(_arguments: object, _context: object) -> Observation:
        return Observation(status="success", summary="")

    names = [
        f"hub__{verb}_{thing}" for verb in ("create", "list", "close") for thing in ("issue", "pull", "branch", "tag")
    ]
    return {
        name: Tool(
            name=name,
            description=f"{name} " + "word " * words,
            parameters={"type": "object"},
            effect="network",
            run=run,
        )
        for name in names[:count]
    }


def test_few_tools_of_servers_are_described_as_they_are_and_many_are_searched_for() -> None:
    few = searchable(deferred(_tools(3, 5)), found=())
    assert [schema.name for schema in sent(few)] == ["hub__create_issue", "hub__create_pull", "hub__create_branch"]
    many = deferred(_tools(12, 400))
    offered = searchable(many, found=["hub__close_tag", "gone__tool"])
    assert [schema.name for schema in sent(offered)] == ["hub__close_tag", "tool_search"]
    assert set(offered) == {*many, "tool_search"}
    seen = offered["tool_search"].run({"query": "create an issue"}, None)  # type: ignore[arg-type]
    assert seen.text.startswith("hub__create_issue")
    assert "hub__create_issue" in seen.payload["found_tools"] and "hub__close_tag" in seen.payload["found_tools"]  # type: ignore[index,operator]
    assert offered["tool_search"].run({"query": "zebra"}, None).payload is None  # type: ignore[arg-type]
    assert ranked("close tag", many)[0] == "hub__close_tag"


def test_a_search_names_what_it_holds_in_few_words() -> None:
    tools = seldom_described(toolbox.find(BUILD_TOOLS)) | deferred(_tools(12, 400))
    said = searchable(tools, found=None)["tool_search"].description
    assert "git_(status, log, show, blame, commit, branch)" in said and "browser" in said and "memory" in said
    assert said.endswith("servers: hub.") and "hub__" not in said


def test_what_was_found_once_is_described_and_nothing_is_searched_for_any_more_when_all_was() -> None:
    tools = seldom_described(toolbox.find(BUILD_TOOLS))
    hidden = [name for name, tool in tools.items() if tool.deferred]
    assert "git_log" in hidden and "shell" not in hidden
    assert "git_log" in [schema.name for schema in sent(searchable(tools, found=["git_log"]))]
    assert [schema.name for schema in sent(searchable(tools, found=hidden))] == list(tools)


def test_a_list_that_somebody_chose_is_described_whole() -> None:
    chosen = toolbox.find(["read_file", "git_log", "browser"])
    assert searchable(seldom_described(chosen), found=None) == chosen
