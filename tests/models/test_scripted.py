"""Proves models/scripted.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge import errors
from agentforge.messages import ModelReply, ModelRequest, ToolCall, Usage
from agentforge.models.stand_ins.scripted import ScriptedModel

RequestFor = Callable[..., ModelRequest]
SCRIPT = """
GREEN:
  - text: I write it.
    thinking: The test wants a sum.
    tool_calls:
      - {name: write_file, args: {path: calc.py, content: "größer"}}
      - {name: shell, raw: '{"command": '}
    usage: {prompt_tokens: 900, completion_tokens: 40, cached_tokens: 100}
  - text: Done.
    finish: length
RED:
  - error: {status: 503, message: overloaded}
  - error: {status: 400, message: maximum context length}
  - {}
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], ScriptedModel]:
    """Opens a script from its text."""

    def write(text: str) -> ScriptedModel:
        path = tmp_path / "script.yaml"
        path.write_text(text, encoding="utf-8")
        return ScriptedModel(path)

    return write


def test_a_reply_is_given_as_it_was_written(script: Callable[[str], ScriptedModel], request_for: RequestFor) -> None:
    model = script(SCRIPT)
    told: list[str] = []
    assert model.complete(request_for("GREEN", 1), on_delta=told.append) == ModelReply(
        text="I write it.",
        thinking="The test wants a sum.",
        tool_calls=(
            ToolCall(call_id="call_GREEN_1_0", name="write_file", arguments='{"path": "calc.py", "content": "größer"}'),
            ToolCall(call_id="call_GREEN_1_1", name="shell", arguments='{"command": '),
        ),
        finish="tool_calls",
        usage=Usage(prompt_tokens=900, completion_tokens=40, cached_tokens=100),
        model=model.name,
    )
    assert told == ["I write it."]


def test_the_place_decides_and_not_the_order_of_asking(
    script: Callable[[str], ScriptedModel], request_for: RequestFor
) -> None:
    model = script(SCRIPT)
    assert [model.complete(request_for("GREEN", step)).text for step in (2, 1, 2)] == ["Done.", "I write it.", "Done."]
    assert model.complete(request_for("GREEN", 2)).finish == "length"


def test_usage_that_is_not_prescribed_is_counted(
    script: Callable[[str], ScriptedModel], request_for: RequestFor
) -> None:
    reply = script(SCRIPT).complete(request_for("GREEN", 2))
    assert reply.usage.completion_tokens == 2
    assert reply.usage.prompt_tokens > 20
    assert not reply.usage_reported


def test_errors_are_those_of_the_wire(script: Callable[[str], ScriptedModel], request_for: RequestFor) -> None:
    model = script(SCRIPT)
    with pytest.raises(errors.ModelUnavailable, match="overloaded"):
        model.complete(request_for("RED", 1))
    with pytest.raises(errors.ContextTooLong):
        model.complete(request_for("RED", 2))
    assert model.complete(request_for("RED", 3)).text == ""


@pytest.mark.parametrize(("stage", "step"), [("GREEN", 3), ("SPEC", 1)])
def test_a_missing_reply_is_named(
    stage: str, step: int, script: Callable[[str], ScriptedModel], request_for: RequestFor
) -> None:
    with pytest.raises(errors.ModelRequestRejected, match=f"has no reply {step} for stage {stage}.*green, red"):
        script(SCRIPT).complete(request_for(stage, step))


def test_the_last_reply_can_be_repeated(script: Callable[[str], ScriptedModel], request_for: RequestFor) -> None:
    model = script("repeat_last: true\nGREEN:\n  - text: a\n  - text: b\n")
    assert [model.complete(request_for("GREEN", step)).text for step in (1, 2, 3, 99)] == ["a", "b", "b", "b"]


def test_one_list_serves_every_stage(script: Callable[[str], ScriptedModel], request_for: RequestFor) -> None:
    model = script("- text: a\n- text: b\n")
    places = [("GREEN", 1), ("RED", 1), ("RED", 2)]
    assert [model.complete(request_for(*place)).text for place in places] == ["a", "a", "b"]


def test_a_request_without_place_is_rejected(script: Callable[[str], ScriptedModel], request_for: RequestFor) -> None:
    with pytest.raises(errors.ModelRequestRejected, match="stage_step 0"):
        script(SCRIPT).complete(request_for("GREEN", 0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not YAML"),
        ("just text", "a mapping from stage to replies"),
        ("GREEN: {text: x}", "GREEN: expected a list of replies, not dict"),
        ("GREEN: [x]", r"GREEN\[0\]: expected a mapping, not str"),
        ("GREEN:\n - {txt: x}", r"GREEN\[0\]: unknown key 'txt' - known are error, finish"),
        ("GREEN:\n - {text: 1}", r"GREEN\[0\]\.text: expected text, not int"),
        ("GREEN:\n - {}\n - {finish: done}", r"GREEN\[1\]\.finish: 'done' is none of stop"),
        ("GREEN:\n - {tool_calls: {}}\n - {tool_calls: x}", r"GREEN\[1\]\.tool_calls: expected a list"),
        ("GREEN:\n - {tool_calls: [{args: {}}]}", r"GREEN\[0\]\.tool_calls\[0\]: a tool call needs a name"),
        ("GREEN:\n - {tool_calls: [{name: f, args: [1]}]}", r"tool_calls\[0\]\.args: expected a mapping"),
        ("GREEN:\n - {tool_calls: [{name: f, args: {}, raw: x}]}", "args and raw cannot be used together"),
        ("GREEN:\n - {tool_calls: [{name: f, args: {d: 2026-01-01}}]}", "not JSON serializable.*quotes"),
        ("GREEN:\n - {usage: {tokens: 1}}", r"usage: unknown key 'tokens'"),
        ("GREEN:\n - {usage: {prompt_tokens: -1}}", r"usage\.prompt_tokens: expected a whole number, not -1"),
        ("GREEN:\n - {error: {message: x}}", r"error\.status: expected a whole number, not None"),
        ("repeat_last: 3\nGREEN: []", "repeat_last: expected true or false"),
        ("GREEN: []\nRED: []\nGREEN: []", "line 3: key 'GREEN' appears twice"),
        ("GREEN:\n - {text: a, text: b}", "line 2: key 'text' appears twice"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_place(
    text: str, message: str, script: Callable[[str], ScriptedModel]
) -> None:
    with pytest.raises(errors.ConfigError, match=message):
        script(text)


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigError, match="cannot be read"):
        ScriptedModel(tmp_path / "none.yaml")


def test_the_script_of_the_documentation_can_be_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "howto" / "by-hand.md"
    script = tmp_path / "replies.yaml"
    script.write_text(page.read_text("utf-8").partition("```yaml\n")[2].partition("```")[0], "utf-8")
    assert ScriptedModel(script).name == f"scripted/{script}"
