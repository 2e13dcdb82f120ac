"""Proves the tools todos, memory and ask_human."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentforge.toolbox import find
from agentforge.tools.base import Observation, ToolContext
from agentforge.tools.dispatch.invocation import InvocationPolicy, invoke


class Kept:
    """A memory in a dictionary."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, str]] = {"user": {}, "project": {}}

    def entries(self, scope: str) -> Mapping[str, str]:
        return dict(self.known[scope])

    def put(self, key: str, value: str | None, *, scope: str) -> None:
        if value is None:
            self.known[scope].pop(key, None)
        else:
            self.known[scope][key] = value


def _call(tool: str, context: ToolContext, **arguments: object) -> Observation:
    policy = InvocationPolicy(text_limit_tokens=4000)
    return invoke(tool, json.dumps(arguments), tools=find([tool]), context=context, policy=policy).observation


def test_todos_are_added_completed_listed_and_cleared(context: ToolContext) -> None:
    def after(context: ToolContext, **arguments: object) -> tuple[Observation, ToolContext]:
        seen = _call("todos", context, **arguments)
        todos = (seen.payload or {}).get("todos", context.todos)
        assert isinstance(todos, Mapping)
        return seen, replace(context, todos=todos)

    _, context = after(context, action="add", content="write it")
    _, context = after(context, action="add", content="test it", id="t")
    _, context = after(context, action="complete", id="1")
    seen, context = after(context, action="list")
    assert (seen.summary, seen.text) == ("2 todos, 1 done", "1 [x] write it\nt [ ] test it")
    assert seen.payload is None
    seen, context = after(context, action="clear")
    assert dict(context.todos) == {}


@pytest.mark.parametrize(
    "arguments", [{"action": "complete", "id": "9"}, {"action": "add"}, {"action": "sing"}, {"action": "add", "x": 1}]
)
def test_a_todo_that_makes_no_sense_is_answered(context: ToolContext, arguments: Mapping[str, object]) -> None:
    assert _call("todos", context, **arguments).status == "error"


def test_memory_is_set_read_listed_and_forgotten_in_its_scope(context: ToolContext) -> None:
    context = replace(context, memory=Kept())
    assert _call("memory", context, action="set", key="style", value="tabs", scope="project").status == "success"
    assert _call("memory", context, action="get", key="style", scope="project").text == "tabs"
    assert _call("memory", context, action="get", key="style").error_type == "not-found"
    assert _call("memory", context, action="list", scope="project").text == "style: tabs"
    assert _call("memory", context, action="delete", key="style", scope="project").status == "success"
    assert _call("memory", context, action="list", scope="project").text == ""


def test_memory_refuses_what_is_no_entry_and_says_where_there_is_none(context: ToolContext) -> None:
    assert _call("memory", context, action="list").error_type == "no-memory"
    context = replace(context, memory=Kept())
    for wrong in ({"key": ""}, {"key": "k" * 101, "value": "v"}, {"key": "k"}, {"key": "k", "value": "v" * 4001}):
        assert _call("memory", context, action="set", **wrong).error_type == "bad-arguments"


def test_a_person_who_is_there_is_asked_at_once(context: ToolContext) -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []

    def answer(question: str, options: tuple[str, ...]) -> str | None:
        asked.append((question, options))
        return "blue" if len(asked) == 1 else None

    context = replace(context, ask=answer)
    assert _call("ask_human", context, question="Which?", options=["red", "blue"]).note == "The user answered: blue"
    assert asked == [("Which?", ("red", "blue"))]
    assert _call("ask_human", context, question="And now?").error_type == "no-answer"
