"""The examiner on the whole way: it agrees, finds what the request states, reads it otherwise, answers nonsense, is away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.world import (
    ADD_SLUGIFY,
    IMPLEMENTED,
    TEST_SLUGIFY,
    edit,
    good_script,
    reply,
    specification,
    submit,
    suite,
    write,
)

if TYPE_CHECKING:
    from tests.support.world import Reply, Script, World

_SETTINGS = '[verification]\nexaminer = "auto"\n'
_CRITERIA = ("slugify('Hello World') -> 'hello-world'", "slugify('') -> ''")
_ROWS = (
    ("test_slugify_lowers_and_hyphenates", "REQ-001.1", "target"),
    ("test_slugify_of_nothing_is_nothing", "REQ-001.2", "target"),
)
_HEAD = "import pytest\n\nfrom textkit import slugify\n\n\n"
_GOES = """# says: "slugify('Hello World')"
def test_two_words():
    assert slugify("Hello World") == "hello-world"


# says: "Add slugify(text)"
def test_twice_is_once():
    assert slugify(slugify("A b")) == "a-b"
"""
_COMMA = """# says: "Add slugify(text)"
def test_a_comma():
    assert slugify("a, b") == "a-b"
"""
_MADE_UP = """# says: "all slugs are blue"
def test_blue():
    assert slugify("x") == "blue"
"""


def _file(*tests: str) -> list[Reply]:
    return [reply(text=f"```python\n{_HEAD}{chr(10).join(tests)}```")]


def _ruling(verdict: str, quote: str = "") -> list[Reply]:
    told = json.dumps({"verdicts": [{"test": 1, "verdict": verdict, "quote": quote, "why": "a comma is no letter"}]})
    return [reply(text=f"```json\n{told}\n```")]


_AGREES = _file(_GOES, _MADE_UP)
_OPEN = [*_file(_GOES, _COMMA), *_ruling("open")]


def _script(examine: list[Reply], **replaced: Any) -> Script:
    return good_script(examine=examine, **replaced)


def _examined(world: World) -> dict[str, Any]:
    return dict(world.events("Examined")[-1]["data"])


def _report(world: World) -> dict[str, Any]:
    (path,) = (world.folder / "artifacts").rglob("delivery_report.yaml")
    return dict(world.view(path.relative_to(world.folder).as_posix()))


def _verdicts(world: World) -> list[str]:
    return [row["verdict"] for row in _examined(world)["rows"]]


def _holds(world: World) -> None:
    for command in ("verify", "replay"):
        checked = world.run(command, world.task)
        assert checked.code == 0, checked.out + checked.err


def test_where_green_cannot_do_what_a_reader_demands_beside_the_tests_the_specification_is_written_again(
    world: World,
) -> None:
    world.settings(_SETTINGS)
    symbol = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    ours, theirs = "slugify('a, b') -> 'a,-b'", "slugify('a, b') -> 'a-b'"
    first, second = ([*_CRITERIA, one] for one in (ours, theirs))
    test = (
        "\n\ndef test_slugify_of_a_comma():\n    from textkit import slugify\n\n    assert slugify('a, b') == 'a{}-b'\n"
    )
    rows = (*_ROWS, ("test_slugify_of_a_comma", "REQ-001.3", "target"))
    tests = suite("tests/test_slugify.py", *rows)

    def red(sign: str) -> Reply:
        return reply(write("tests/test_slugify.py", TEST_SLUGIFY + test.format(sign)), submit(tests))

    question = ("ask_human", {"question": "test_slugify_of_a_comma keeps the comma, and the finding drops it"})
    better = edit("text.lower().split()", 'text.lower().replace(",", "").split()')
    script = good_script(
        spec=[reply(submit(specification(one, symbol, asks={"1": ["REQ-001"]}))) for one in (first, second)],
        red=[red(","), red("")],
        green=[reply(ADD_SLUGIFY, IMPLEMENTED), reply(question), reply(better, IMPLEMENTED)],
        examine=[*_file(_GOES, _COMMA), *_ruling("demanded", "Add slugify(text)")],
    )
    done = world.start(script)
    assert (done.code, done.json["outcome"], done.json["escalations"]) == (0, "delivered", []), done.out + done.err
    opened = [(one["data"]["stage"], one["data"]["by"]) for one in world.events("StageReopened")]
    assert opened == [("green", "examine"), ("spec", "green")]
    _holds(world)


def test_what_agrees_is_told_with_its_cost_and_the_examiner_sees_neither_specification_nor_tests_nor_code(
    world: World,
) -> None:
    world.settings(_SETTINGS)
    done = world.start(_script(_AGREES))
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert _verdicts(world) == ["agrees", "agrees", "dropped"]
    call = world.events("ModelCalled")[-1]["data"]
    assert (call["stage"], call["context_tokens"] < 8000) == ("examine", True)
    sent = json.dumps(world.run("inspect", world.task, "--step", str(call["step"]), "--show", "context", "--json").json)
    assert "def slugify(text: str) -> str" in sent and "slugify('Hello World')" in sent
    assert not [word for word in ("test_slugify", "lower().split", "REQ-001", "it does what was asked") if word in sent]
    assert "examine" in {row["stage"] for row in world.run("cost", world.task, "--json").json["by_stage"]}
    (note,) = [row for row in _report(world)["notes"] if row["stage"] == "examine"]
    assert "2 agrees" in note["note"] and "1 calls" in note["note"]
    _holds(world)


def test_another_reading_is_an_assumption_of_the_report(world: World) -> None:
    world.settings(_SETTINGS)
    done = world.start(_script(_OPEN))
    assert (done.code, _verdicts(world)) == (0, ["agrees", "agrees", "open"]), done.out + done.err
    told = str(_report(world)["assumptions"])
    assert "a comma is no letter" in told and "a,-b" in told and 'slugify("a, b")' in told
    _holds(world)


def test_another_reading_is_a_question_where_that_is_wanted_and_its_answer_counts(world: World) -> None:
    world.settings(_SETTINGS + "examiner_asks = true\n")
    done = world.start(_script(_OPEN))
    (asked,) = done.json["escalations"]
    assert (done.code, asked["stage"]) == (3, "deliver"), done.out
    assert {"as implemented", "the other reading"} <= {choice["label"] for choice in asked["choices"]}
    done = world.run("resolve", "E1", "--answer", "as implemented", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert not _report(world)["assumptions"]
    _holds(world)


_REQUEST = "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'. A slug of 'A_b' must be 'a-b'."
_DEMANDED = """# says: "A slug of 'A_b' must be 'a-b'."
def test_underscore():
    assert slugify("A_b") == "a-b"
"""
_STATED = [*_file(_DEMANDED), *_ruling("demanded", "A slug of 'A_b' must be 'a-b'")]


def _stated(*green: Reply) -> Script:
    symbol = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    spec = specification(criteria, symbol, asks={"1-2": ["REQ-001"]})
    return _script(_STATED, spec=[reply(submit(spec))], green=[reply(ADD_SLUGIFY, IMPLEMENTED), *green])


def test_a_result_that_the_request_states_sends_the_run_back_once_and_the_right_one_is_delivered(world: World) -> None:
    world.settings(_SETTINGS)
    right = edit("text.lower().split()", 'text.lower().replace("_", " ").split()')
    done = world.start(_stated(reply(right, IMPLEMENTED)), request=_REQUEST)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    (back,) = [one["data"] for one in world.events("StageReopened") if one["data"]["by"] == "examine"]
    assert (back["stage"], 'slugify("A_b")' in str(back["findings"])) == ("green", True)
    assert 'replace("_", " ")' in world.git("show", f"{done.json['branch']}:textkit.py")
    assert _verdicts(world) == ["agrees"]
    assert len([one for one in world.events("ModelCalled") if one["data"]["stage"] == "examine"]) == 2
    _holds(world)


def test_where_it_stays_a_human_decides_over_both(world: World) -> None:
    world.settings(_SETTINGS)
    done = world.start(_stated(reply(IMPLEMENTED)), request=_REQUEST)
    (asked,) = done.json["escalations"]
    assert (done.code, "a_b" in asked["question"], '"a-b"' in asked["question"]) == (3, True, True), done.out
    done = world.run("resolve", "E1", "--answer", "as implemented", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert 'slugify("A_b")' in str(_report(world)["assumptions"])


def test_a_file_that_cannot_be_run_is_sent_back_once(world: World) -> None:
    world.settings(_SETTINGS)
    broken = [reply(text="```python\nimport nothing_of_the_kind\n```")]
    done = world.start(_script([*broken, *_file(_GOES)]))
    assert (done.code, _verdicts(world)) == (0, ["agrees", "agrees"]), done.out + done.err
    calls = [one["data"] for one in world.events("ModelCalled") if one["data"]["stage"] == "examine"]
    sent = json.dumps(
        world.run("inspect", world.task, "--step", str(calls[1]["step"]), "--show", "context", "--json").json
    )
    assert "could not be run" in sent and "nothing_of_the_kind" in sent
    _holds(world)


def test_one_that_cannot_be_run_twice_keeps_nothing_from_its_delivery(world: World) -> None:
    world.settings(_SETTINGS)
    broken = reply(text="```python\nimport nothing_of_the_kind\n```")
    done = world.start(_script([broken, broken]))
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    (line,) = [one for one in _report(world)["limits"] if one.startswith("not examined")]
    assert "nothing_of_the_kind" in line
    _holds(world)


def test_where_the_second_reader_is_away_the_reading_is_open(world: World) -> None:
    world.settings(_SETTINGS)
    done = world.start(_script(_file(_GOES, _COMMA)))
    assert (done.code, _verdicts(world)) == (0, ["agrees", "agrees", "open"]), done.out + done.err
    _holds(world)


@pytest.mark.parametrize(
    ("settings", "replies", "why"),
    [
        (_SETTINGS, [reply(text="I think it is fine.")], "no test file"),
        (_SETTINGS, [{"error": {"status": 400, "message": "no such thing"}}], "no such thing"),
        (_SETTINGS, [], "no reply"),
        ('[verification]\nexaminer = "openai/gpt-5.5"\n', [], "OPENAI_API_KEY"),
    ],
    ids=["nonsense", "refused", "away", "no key"],
)
def test_an_examiner_that_is_of_no_use_is_one_line_in_the_report(
    world: World, settings: str, replies: list[Reply], why: str
) -> None:
    world.settings(settings)
    done = world.start(good_script(examine=replies))
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    (line,) = [one for one in _report(world)["limits"] if one.startswith("not examined")]
    assert why in line, line
    _holds(world)


@pytest.mark.parametrize("last", ["StageStarted", "ModelCalled", "ModelReplied", "StepFinished"])
def test_a_run_that_was_killed_while_it_was_examined_goes_on(world: World, last: str) -> None:
    world.settings(_SETTINGS + "examiner_asks = true\n")
    assert world.start(_script(_OPEN)).code == 3
    log = world.folder / "events.jsonl"
    lines = log.read_text("utf-8").splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    begun = next(number for number, one in enumerate(records) if one["data"].get("stage") == "examine")
    kept = next(number for number in range(begun, len(lines)) if records[number]["type"] == last)
    world.died_after(kept + 1)
    done = world.run("resume", world.task, "--json")
    assert (done.code, _verdicts(world)) == (3, ["agrees", "agrees", "open"]), done.out + done.err
    replied = [one for one in world.events("ModelReplied") if one["seq"] > begun]
    assert len(replied) == 2
    checked = world.run("replay", world.task)
    assert checked.code == 0, checked.out + checked.err


def test_who_agreed_to_do_without_is_asked_nothing(world: World) -> None:
    world.settings('[verification]\nexaminer = "off"\n', trusted=True)
    assert world.start(_script(_AGREES)).code == 0
    assert not world.events("Examined")


def test_a_project_that_nobody_trusts_does_not_do_away_with_it(world: World) -> None:
    world.settings('[verification]\nexaminer = "off"\n')
    assert world.start(_script(_AGREES)).code == 0
    assert _verdicts(world) == ["agrees", "agrees", "dropped"]


def test_a_script_without_a_word_of_it_is_not_asked(world: World) -> None:
    assert world.start(good_script()).code == 0
    assert not world.events("Examined")
