"""Proves tools/custom.py and tools/harness_shim.py: both forms load, broken files are named, their errors stay theirs."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.tools.base import Observation, ToolContext
from agentforge.tools.custom.definition import Loaded, load_tools
from agentforge.tools.dispatch.invocation import InvocationPolicy, invoke

_SEED = """
from __future__ import annotations
from pydantic import BaseModel, Field
from agentforge_harness.tools.base import Tool, ToolKind, ToolInvocation, ToolResult, ToolConfirmation, FileDiff


class Inner(BaseModel):
    word: str


class Params(BaseModel):
    inner: Inner
    times: int = Field(1, ge=1, description="how often")


class Repeat(Tool):
    name = "repeat"
    description = "Repeats a word."
    kind = ToolKind.READ

    @property
    def schema(self):
        return Params

    async def execute(self, invocation: ToolInvocation) -> ToolResult:
        params = Params(**invocation.params)
        print("this goes nowhere")
        return ToolResult.success_result(params.inner.word * params.times, summary="repeated", next_actions=["go on"])


class Drop(Tool):
    name = "drop"
    description = "Drops a file."
    kind = ToolKind.WRITE
    schema = {"parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}

    async def execute(self, invocation):
        return ToolResult.error_result("it is locked", output="details", recovery_hint="unlock it")

    async def get_confirmation(self, invocation):
        path = invocation.cwd / invocation.params["path"]
        return ToolConfirmation(tool_name=self.name, params=invocation.params, description="drop", affected_paths=[path], is_dangerous=True)
"""
_NATIVE = """
from agentforge.tools.base import TEXT, Observation, Tool, takes
TOOL = Tool(name="shout", description="Shouts.", parameters=takes("text", text=TEXT), effect="read",
            run=lambda arguments, context: Observation(status="success", summary=arguments["text"].upper()))
"""
_ODD = """
from agentforge_harness.tools.base import Tool, ToolResult

class Raises(Tool):
    name = "raises"; schema = {"type": "object"}
    async def execute(self, invocation): raise ValueError("mine")

class Exits(Tool):
    name = "exits"; schema = {"type": "object"}
    async def execute(self, invocation): raise SystemExit(3)

class Plain(Tool):
    name = "plain"; schema = {"type": "object"}
    def execute(self, invocation): return "just text"
"""


def _load(folder: Path, **files: str) -> Loaded:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return load_tools([folder], root=folder, taken=["read_file"])


def _call(loaded: Loaded, tool: str, folder: Path, **arguments: object) -> Observation:
    context = replace(_CONTEXT, root=folder)
    policy = InvocationPolicy(text_limit_tokens=500)
    return invoke(tool, json.dumps(arguments), tools=loaded.tools, context=context, policy=policy).observation


def _nothing(*_arguments: object, **_named: object) -> Observation:
    return Observation(status="success", summary="")


_CONTEXT = ToolContext(
    root=Path("/"), base_commit="", run_command=_nothing, run_tests=_nothing, run_checks=_nothing,
    git_diff=lambda _path: "", may_write=lambda _path: None,
)  # type: ignore[arg-type]  # fmt: skip


def test_a_tool_written_for_the_predecessor_loads_and_runs(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    loaded = _load(tmp_path / "tools", seed=_SEED)
    assert not loaded.refused, loaded.refused
    assert "$" not in json.dumps(loaded.tools["repeat"].parameters)
    seen = _call(loaded, "repeat", tmp_path, inner={"word": "ab"}, times=2)
    assert (seen.status, seen.summary, seen.text, seen.next_actions) == ("success", "repeated", "abab", ("go on",))
    assert _call(loaded, "repeat", tmp_path, inner={"word": 5}).error_type == "bad-arguments"
    assert _call(loaded, "repeat", tmp_path, inner={"word": "a"}, times=0).error_type == "bad-arguments"
    assert "agentforge_harness" not in sys.modules and "agentforge_harness.tools.base" not in sys.modules


def test_what_a_tool_says_of_a_call_decides_what_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    loaded = _load(tmp_path / "tools", seed=_SEED)
    drop, repeat = loaded.tools["drop"], loaded.tools["repeat"]
    assert (repeat.acts({"inner": {"word": "x"}}), drop.acts({"path": "a"})) == ("read-only", "destructive")
    assert drop.writes({"path": "a"}) == (str(tmp_path / "tools" / "a"),)
    outside = _call(loaded, "drop", tmp_path, path="/etc/passwd")
    assert (outside.status, outside.error_type) == ("denied", "out-of-scope")
    failed = _call(loaded, "drop", tmp_path, path="a")
    assert (failed.error_type, failed.text, failed.next_actions) == ("tool-error", "details", ("unlock it",))


def test_the_native_form_loads(tmp_path: Path) -> None:
    assert _call(_load(tmp_path / "tools", native=_NATIVE), "shout", tmp_path, text="hi").summary == "HI"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def broken(:", "SyntaxError"),
        ("import no_such_module", "no_such_module"),
        ("raise SystemExit(1)", "SystemExit"),
        ("1 / 0", "ZeroDivisionError"),
        ("x = 1", "neither TOOL"),
        ("TOOL = 7", "TOOL is no"),
        (_NATIVE.replace('"shout"', '"read_file"'), "taken by a built-in tool"),
        (_NATIVE.replace('"shout"', '"a__b"'), "is no name"),
        (_NATIVE.replace('"shout"', '""'), "is no name"),
    ],
)
def test_a_broken_file_is_named_and_the_others_go_on(tmp_path: Path, text: str, words: str) -> None:
    loaded = _load(tmp_path / "tools", broken=text, good=_NATIVE, _skipped="1 / 0")
    assert list(loaded.tools) == ["shout"]
    (place, why), *others = loaded.refused.items()
    assert ("broken.py" in place, words in why, others) == (True, True, [])


def test_a_clash_names_both_files(tmp_path: Path) -> None:
    loaded = _load(tmp_path / "tools", one=_NATIVE, two=_NATIVE)
    assert loaded.origins["shout"].endswith("one.py")
    (place, why), *_ = loaded.refused.items()
    assert "two.py: shout" in place and "one.py" in why


def test_what_a_tool_raises_stays_with_the_call(tmp_path: Path) -> None:
    loaded = _load(tmp_path / "tools", odd=_ODD)
    assert "ValueError: mine" in _call(loaded, "raises", tmp_path).summary
    assert "SystemExit(3)" in _call(loaded, "exits", tmp_path).summary
    assert _call(loaded, "plain", tmp_path).text == "just text"
