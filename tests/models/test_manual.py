"""Proves that a person can be the model: prompts and answers as files that survive a stop."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import ModelReplyBroken, ModelUnavailable
from agentforge.messages import Message, ModelRequest, Text, ToolSchema
from agentforge.models.api.catalogue import open_model
from agentforge.models.api.model import ModelSpec
from agentforge.models.stand_ins.manual import ManualModel

REQUEST = ModelRequest(
    messages=(Message(role="user", parts=(Text(text="What is asked?"),)),),
    tools=(ToolSchema(name="read_file", description="Read.", parameters={"type": "object"}),),
    labels={"run": "task-1", "stage": "green", "stage_step": 1, "step": 4},
)


def model(folder: Path) -> ManualModel:
    return ManualModel("answers", folder, wait_s=0.0)


def answer(folder: Path, text: str, name: str = "green-0004.answer.md") -> Path:
    file = folder / "task-1" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (1, 1))
    return file


def test_where_the_answer_is_wanted_is_said_before_it_is_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ModelUnavailable):
        model(tmp_path).complete(REQUEST)
    assert f"write the answer into {tmp_path}/task-1/green-0004.answer.md" in capsys.readouterr().err


def test_a_prompt_waits_for_its_answer_beyond_the_end_of_the_process(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no answer") as stopped:
        model(tmp_path).complete(REQUEST)
    assert "green-0004.answer.md" in stopped.value.hint and "resume" in stopped.value.hint
    prompt = (tmp_path / "task-1" / "green-0004.prompt.md").read_text()
    assert "What is asked?" in prompt and "read_file" in prompt
    answer(tmp_path, "I say so.\n")
    later = replace(
        REQUEST, labels={**REQUEST.labels, "step": 5}
    )  # the step that failed has another number when it is resumed
    reply = model(tmp_path).complete(later)
    assert (reply.text, reply.tool_calls, reply.model) == ("I say so.", (), "manual/answers")
    assert model(tmp_path).complete(REQUEST).text == "I say so."  # asked again after a crash: the same answer


def test_an_equal_question_of_a_later_step_is_asked_anew(tmp_path: Path) -> None:
    answer(tmp_path, "once")
    assert model(tmp_path).complete(REQUEST).text == "once"
    with pytest.raises(ModelUnavailable):
        model(tmp_path).complete(replace(REQUEST, labels={**REQUEST.labels, "step": 9}))


def test_an_answer_to_another_question_is_put_aside(tmp_path: Path) -> None:
    answer(tmp_path, "old")
    model(tmp_path).complete(REQUEST)
    other = replace(REQUEST, messages=(Message(role="user", parts=(Text(text="Something else"),)),))
    with pytest.raises(ModelUnavailable):
        model(tmp_path).complete(other)
    assert (tmp_path / "task-1" / "green-0004.answer.md.old").read_text() == "old"


def test_an_answer_may_hold_tool_calls_and_samples(tmp_path: Path) -> None:
    answer(tmp_path, "```yaml\ntext: I look\ntool_calls:\n  - {name: read_file, args: {path: a.py}}\n```\n")
    (call,) = model(tmp_path).complete(REQUEST).tool_calls
    assert (call.name, call.arguments) == ("read_file", '{"path": "a.py"}')


def test_more_samples_than_asked_for_are_left_out(tmp_path: Path) -> None:
    wanted = replace(REQUEST, samples=2)
    answer(tmp_path, "samples: [one, two, three]\n", "green-0004.answer.yaml")
    assert model(tmp_path).complete(wanted).samples == ("one", "two")


@pytest.mark.parametrize("text", ["- a list\n", "tool_calls: [{name: 3}]\n", "wrong_key: 1\n"])
def test_a_file_that_cannot_be_read_is_said_with_its_name(tmp_path: Path, text: str) -> None:
    answer(tmp_path, text, "green-0004.answer.yaml")
    with pytest.raises(ModelReplyBroken, match=r"green-0004\.answer\.yaml"):
        model(tmp_path).complete(REQUEST)


def test_the_terminal_is_asked_only_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentforge.models.stand_ins.manual._TTY", tmp_path / "none")
    with pytest.raises(ModelUnavailable, match="no terminal"):
        ManualModel("terminal", tmp_path, wait_s=0.0).complete(REQUEST)


def test_the_name_of_the_model_is_the_folder(tmp_path: Path) -> None:
    opened = open_model(ModelSpec(provider="manual", name=str(tmp_path / "desk"), read_timeout_s=0.0))
    with pytest.raises(ModelUnavailable):
        opened.complete(REQUEST)
    assert (tmp_path / "desk" / "task-1" / "green-0004.prompt.md").is_file()
