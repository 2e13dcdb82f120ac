"""`agentforge run` for programs: answers by a schema, messages as JSON lines, pieces as they come, words for the instructions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.loopback.provider import Say

if TYPE_CHECKING:
    from tests.support.loopback.provider import LoopbackProvider
    from tests.support.world import Done, World

_SCHEMA = json.dumps(
    {"type": "object", "properties": {"bugs": {"type": "integer"}}, "required": ["bugs"], "additionalProperties": False}
)


def _run(world: World, loopback: LoopbackProvider, *arguments: str, stdin: bytes | None = None) -> Done:
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "k"}
    more: dict[str, Any] = {} if stdin is None else {"stdin": stdin}
    return world.run("run", *arguments, "--model", "custom/m", env=env, **more)


def _lines(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


def test_an_answer_by_a_schema_is_asked_for_again_until_it_is_valid(world: World, loopback: LoopbackProvider) -> None:
    loopback.plan(Say(text="There are 3."), Say(text='{"bugs": "3"}'), Say(text='```json\n{"bugs": 3}\n```'))
    done = _run(world, loopback, "count", "--json", "--json-schema", _SCHEMA)
    assert (done.code, done.json["subtype"], done.json["structured_output"]) == (0, "success", {"bugs": 3}), done.out
    assert '"bugs"' in loopback.asked[0].body["messages"][0]["content"]
    said = [one["content"] for one in loopback.asked[2].body["messages"] if one["role"] == "user"]
    assert "cannot be read" in said[1] and "bugs" in said[2]


def test_an_answer_that_stays_invalid_is_an_error_in_word_code_and_text(
    world: World, loopback: LoopbackProvider
) -> None:
    loopback.default = Say(text="Three.")
    done = _run(world, loopback, "count", "--json", "--json-schema", _SCHEMA)
    assert (done.code, done.json["exit_code"], len(loopback.asked)) == (5, 5, 3)
    assert (done.json["subtype"], done.json["is_error"]) == ("error_max_structured_output_retries", True)
    assert "structured_output" not in done.json


@pytest.mark.parametrize("schema", ["nowhere.json", "{", '{"type": 7}'])
def test_a_schema_that_is_none_is_a_usage_error(world: World, loopback: LoopbackProvider, schema: str) -> None:
    done = _run(world, loopback, "count", "--json", "--json-schema", schema)
    assert (done.code, loopback.asked) == (2, [])


def test_words_for_the_instructions_stand_behind_them(world: World, loopback: LoopbackProvider) -> None:
    loopback.default = Say(text="Oui.")
    for flags in ((), ("--bare",)):
        assert _run(world, loopback, "hi", "--append-system-prompt", "Answer in French.", *flags).code == 0
        assert "Answer in French." in loopback.asked[-1].body["messages"][0]["content"]


def test_every_line_of_a_stream_is_a_turn_of_one_conversation(world: World, loopback: LoopbackProvider) -> None:
    loopback.plan(Say(text="One."), Say(text="Two."))
    parts = [{"type": "text", "text": "second"}]
    given = [{"type": "user", "message": {"role": "user", "content": text}} for text in ("first", parts)]
    stdin = "\n".join(map(json.dumps, given)).encode()
    flags = ("--input-format", "stream-json", "--output-format", "stream-json")
    done = _run(world, loopback, *flags, stdin=stdin)
    lines = _lines(done)
    assert [one["result"] for one in lines if one["type"] == "result"] == ["One.", "Two."], done.out + done.err
    assert [one["type"] for one in lines].count("system") == 1
    assert "first" in json.dumps(loopback.asked[1].body["messages"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--input-format", "stream-json"),
        ("hi", "--input-format", "stream-json", "--output-format", "stream-json"),
        ("hi", "--include-partial-messages"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    world: World, loopback: LoopbackProvider, arguments: tuple[str, ...]
) -> None:
    assert _run(world, loopback, *arguments, stdin=b"").code == 2


def test_a_line_that_is_no_message_is_named(world: World, loopback: LoopbackProvider) -> None:
    flags = ("--input-format", "stream-json", "--output-format", "stream-json")
    done = _run(world, loopback, *flags, stdin=b'{"type": "assistant"}\n')
    assert done.code == 2 and "line 1" in done.out


def test_pieces_come_as_they_are_streamed(world: World, loopback: LoopbackProvider) -> None:
    loopback.default = Say(text="one two three four", pieces=4)
    done = _run(world, loopback, "hi", "--output-format", "stream-json", "--include-partial-messages")
    pieces = [one["event"]["delta"]["text"] for one in _lines(done) if one["type"] == "stream_event"]
    assert "".join(pieces) == "one two three four" and len(pieces) > 1


@pytest.mark.parametrize(
    ("replies", "flags", "code", "word"),
    [
        ([{"text": "Done."}], (), 0, "success"),
        ([{"error": {"status": 401, "message": "no key"}}], (), 5, "error_during_execution"),
        ([{"tool_calls": [{"name": "list_dir", "args": {}}]}] * 3, ("--max-turns", "1"), 6, "error_max_turns"),
    ],
)
def test_word_code_and_text_agree(
    world: World, replies: list[dict[str, Any]], flags: tuple[str, ...], code: int, word: str
) -> None:
    (world.home / "chat.yaml").write_text(yaml.safe_dump({"chat": replies}))
    arguments = ("run", "go", "--model", f"scripted/{world.home / 'chat.yaml'}", *flags)
    value = world.run(*arguments, "--json")
    told = world.run(*arguments)
    assert (value.code, value.json["exit_code"], told.code) == (code, code, code)
    assert (value.json["subtype"], value.json["is_error"]) == (word, word != "success")
    assert bool(told.err.strip()) is (code != 0)
