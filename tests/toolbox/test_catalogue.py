"""Proves toolbox/__init__.py: the catalogue of tools and what they cost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator

from agentforge.errors import ConfigError
from agentforge.tokens import count_tokens
from agentforge.toolbox import find, names

STAGE = ["read_file", "edit", "write_file", "grep", "shell", "run_tests", "apply_patch", "submit_artifact"]


def test_the_name_of_a_tool_is_the_name_of_its_file() -> None:
    assert {name: tool.name for name, tool in find(names()).items()} == {name: name for name in names()}
    assert {"edit", "shell", "submit_artifact"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_schema_is_valid_closed_and_only_names_what_it_has(name: str) -> None:
    schema = find([name])[name].parameters
    Draft202012Validator(dict(schema))
    assert schema["additionalProperties"] is False
    assert set(schema.get("required", [])) <= set(schema["properties"])  # type: ignore[call-overload]


def test_the_schemas_of_eight_tools_cost_at_most_700_tokens() -> None:
    sent = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in find(STAGE).values()
    ]
    assert count_tokens(json.dumps(sent)) <= 700


def test_every_tool_that_writes_names_what_it_writes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def a(): ...\n")
    arguments = {"path": "a.py", "patch": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"}
    arguments |= {"action": "rename", "symbol": "a", "to": "b"}
    writing = {name: tool.paths(arguments, tmp_path) for name, tool in find(names()).items() if tool.effect == "write"}
    alone = dict.fromkeys(("append_file", "apply_patch", "edit", "write_file", "refactor"), ("a.py",))
    assert writing == {**alone, "move_file": ("a.py", "b")}


def test_tools_come_in_the_order_in_which_they_are_named() -> None:
    assert list(find(STAGE)) == STAGE


@pytest.mark.parametrize("name", ["no_such_tool", "_files", "os.path"])
def test_an_unknown_tool_is_an_error_that_lists_the_tools(name: str) -> None:
    with pytest.raises(ConfigError, match=r"there is no tool.*append_file, apply_patch"):
        find([name])


def test_listing_imports_nothing_and_finding_only_what_is_asked() -> None:
    script = (
        "import sys; from agentforge.toolbox import find, names; names();"
        "before = {m for m in sys.modules if m.startswith('agentforge.toolbox.')}; find(['submit_artifact']);"
        "print(before, sorted(m for m in sys.modules if m.startswith('agentforge.toolbox.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set() ['agentforge.toolbox.task', 'agentforge.toolbox.task.submit_artifact']"
