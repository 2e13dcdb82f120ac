"""Proves tools/mcp/spec.py, definitions.py and deferring.py: what a server says, made plain, named, pinned and searched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from agentforge.errors import ConfigError
from agentforge.tools.mcp.definitions import Definition, Pinned, Pins, definition_of, offered_names, plain_schema
from agentforge.tools.mcp.spec import ServerSpec, read_mcp_json, read_spec


def _read(table: dict[str, object], *, project: bool = False, **environ: str) -> ServerSpec:
    return read_spec("one", table, environ=environ, origin="here", project=project)


def test_variables_are_put_in_and_unknown_ones_have_their_default() -> None:
    table = {"command": "${BIN:-node}", "args": ["--x=${A}"], "env": {"API_KEY": "${KEY}", "ROOT": "/home/ann/work"}}
    spec = _read(table, A="1", KEY="long-secret-1")
    assert (spec.command, spec.env["API_KEY"], spec.secrets) == (("node", "--x=1"), "long-secret-1", ("long-secret-1",))


@pytest.mark.parametrize(
    "table",
    [
        {}, {"command": "a", "url": "http://x"}, {"url": "ftp://x"}, {"command": 7}, {"command": "a", "args": "b"},
        {"command": "a", "env": {"x": 1}}, {"command": "a", "env": []},
    ],
)  # fmt: skip
def test_a_server_that_makes_no_sense_is_an_error(table: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        _read(table)


@pytest.mark.parametrize("name", ["", "a b", "a__b", "x" * 41, "a.b"])
def test_a_name_that_no_tool_could_carry_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match="a name has"):
        read_spec(name, {"command": "x"}, environ={}, origin="here", project=False)


def test_a_project_cannot_leave_the_sandbox_or_open_the_network() -> None:
    table: dict[str, object] = {"command": "a", "sandbox": False, "network": True, "write": ["/"], "read": ["/"]}
    theirs, mine = _read(table, project=True), _read(table)
    assert (theirs.sandbox, theirs.network, theirs.write, theirs.read) == (True, False, (), ())
    assert (mine.sandbox, mine.network, mine.write, mine.read) == (False, True, ("/",), ("/",))


@pytest.mark.parametrize("text", ["[", "[]", "7", "{}", '{"mcpServers": []}', '{"mcpServers": {"a": 1}}', "\xff"])
def test_an_mcp_json_of_another_shape_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError):
        read_mcp_json(tmp_path / ".mcp.json")


def test_references_are_resolved_also_nested_escaped_and_circular_ones() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/x~1y"},
            "b": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            "$ref": {"type": "string"},
            "c": {"$ref": "https://elsewhere/schema", "description": "kept"},
        },
        "$defs": {
            "x/y": {"anyOf": [{"$ref": "#/definitions/word"}, {"type": "null"}]},
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "required": ["next"]},
        },
        "definitions": {"word": {"type": "string", "title": "Word"}},
    }
    plain: Any = plain_schema(schema)
    assert plain["properties"]["a"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert plain["properties"]["b"]["items"]["properties"]["next"] == {}
    assert plain["properties"]["$ref"] == {"type": "string"}
    assert plain["properties"]["c"] == {"description": "kept"}
    Draft202012Validator(plain)


@pytest.mark.parametrize(
    "schema", [None, [], 7, "x", {"type": 7}, {"properties": 3}, {"type": "object", "pattern": "("}]
)
def test_a_schema_that_is_none_takes_anything(schema: object) -> None:
    assert plain_schema(schema)["type"] == "object"
    Draft202012Validator(json.loads(json.dumps(plain_schema(schema))))


def test_a_schema_that_explodes_is_given_up() -> None:
    wide: dict[str, Any] = {"type": "object", "properties": {}, "$defs": {"z": {"type": "string"}}}
    for depth in range(12):
        wide["$defs"][f"d{depth}"] = (
            {"properties": {str(n): {"$ref": f"#/$defs/d{depth - 1}"} for n in range(9)}} if depth else {}
        )
    wide["properties"]["a"] = {"$ref": "#/$defs/d11"}
    assert plain_schema(wide) == {"type": "object"}


def _definition(name: str, description: str = "") -> Definition:
    return definition_of(name, description, {}, looks=False, destroys=False)


def test_names_fit_every_provider_and_no_two_are_alike() -> None:
    names = list(offered_names("srv", [_definition(name) for name in ("a b", "a_b", "x" * 90, "x" * 91, "ü")]))
    assert len(set(names)) == 5 and all(len(name) <= 64 and name.isascii() for name in names)
    assert names[0] == "srv__a_b"


def test_a_description_is_cleaned_and_bounded() -> None:
    one = _definition("a", "red\x1b[31m\u202e words\n\n" + "x" * 5000)
    assert "\x1b" not in one.description and "\u202e" not in one.description and len(one.description) <= 1000


def test_pins_are_kept_compared_and_forgotten_when_damaged(tmp_path: Path) -> None:
    pins, before = (
        Pins(tmp_path / "pins"),
        Pinned(definitions=(_definition("a", "one"), _definition("b")), resources=True),
    )
    pins.store("sha256:ab", before)
    assert pins.load("sha256:ab") == before
    now = Pinned(definitions=(_definition("a", "two"), _definition("c")))
    assert before.changes(now) == {"a": "changed", "c": "new"}
    next((tmp_path / "pins").iterdir()).write_text("{")
    assert pins.load("sha256:ab") is None


def test_what_hinders_a_server_from_starting_is_known_before() -> None:
    table = {"command": "npx", "args": ["-y", "x"], "env": {"A": "${NO_SUCH}", "B": "${NO_SUCH_EITHER:-b}"}}
    spec = read_spec("a", table, environ={}, origin="f", project=False)
    assert spec.unset == ("NO_SUCH",)
    assert "NO_SUCH is not set" in spec.advice and "set network = true" in spec.advice
    assert read_spec("a", {**table, "network": True}, environ={"NO_SUCH": "1"}, origin="f", project=False).advice == ""


def test_the_transport_of_before_is_refused_with_the_one_of_today() -> None:
    with pytest.raises(ConfigError, match="replaced by streamable HTTP"):
        read_spec("a", {"type": "sse", "url": "https://a/sse"}, environ={}, origin="f", project=True)
