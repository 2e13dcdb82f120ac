"""Proves tools/arguments.py."""

from __future__ import annotations

import pytest

from agentforge.tools.base import COUNT, TEXT, Observation, Tool, ToolError, takes
from agentforge.tools.dispatch.arguments import check_arguments, parse_arguments, signature

TOOL = Tool(
    name="look",
    description="Look.",
    parameters=takes("path", path=TEXT, offset=COUNT, mode={"enum": ["near", "far"]}),
    effect="read",
    run=lambda _arguments, _context: Observation(status="success", summary=""),
)


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        ('{"path": "a', "Unterminated string starting at at line 1 column 10, near"),
        ('{"path": "a"', "Expecting ',' delimiter at line 1 column 13"),
        ("path=a", "Expecting value at line 1 column 1"),
        ('{"path": "a", "path": "b"}', "the key 'path' stands twice"),
        ('{"offset": NaN}', "NaN is no JSON number"),
        ("[1]", "a JSON object is needed, this is an array"),
        ("null", "this is null"),
        ("7", "this is a number"),
        ('"x"', "this is a string"),
        ("true", "this is a boolean"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_malformed_arguments_are_named_as_such(raw: str, what: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_arguments(TOOL, raw)
    observation = caught.value.observation
    assert observation.error_type == "malformed-arguments"
    assert what in observation.text
    assert "Nothing was executed." in observation.text
    assert "look takes: path (string), offset (integer, optional), mode (near|far, optional)" in observation.text


@pytest.mark.parametrize("raw", ["", "  ", "{}"])
def test_no_arguments_at_all_are_an_empty_object(raw: str) -> None:
    assert parse_arguments(TOOL, raw) == {}


def test_every_failure_is_reported_with_its_path() -> None:
    with pytest.raises(ToolError) as caught:
        check_arguments(TOOL, {"file": "x", "offset": "3", "mode": "up"})
    observation = caught.value.observation
    assert observation.error_type == "bad-arguments"
    assert observation.text.splitlines() == [
        '- offset: "3" is not of type "integer"',
        '- mode: "up" is not one of "near" or "far"',
        "- arguments: Additional properties are not allowed ('file' was unexpected)",
        '- arguments: "path" is a required property',
        "look takes: path (string), offset (integer, optional), mode (near|far, optional)",
    ]


def test_right_arguments_pass() -> None:
    check_arguments(TOOL, {"path": "a", "offset": 1, "mode": "far"})


def test_a_tool_without_parameters_says_so() -> None:
    plain = Tool(name="now", description="", parameters=takes(), effect="read", run=TOOL.run)
    assert signature(plain) == "now takes no arguments"
