"""Examples beside which other code stands: tried, and where they fail somebody decides who reads the request and not the work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.world import ADD_SLUGIFY, IMPLEMENTED, edit, good_script, reply, specification, submit, suite, write

if TYPE_CHECKING:
    from tests.support.world import Reply, Script, World

_SETTINGS = '[verification]\nexaminer = "auto"\n'
_REQUEST = (
    "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'. For `[7]`, `slugify('A_b')` is 'a-b'."
)
_STATED = "For `[7]`, `slugify('A_b')` is 'a-b'."
_FILE = """```python
from textkit import slugify


# says: "slugify('Hello World')"
def test_two_words():
    assert slugify("Hello World") == "hello-world"
```"""
_RIGHT = edit("text.lower().split()", 'text.lower().replace("_", " ").split()')


def _ruling(verdict: str, quote: str = "") -> Reply:
    told = {"verdicts": [{"test": 1, "verdict": verdict, "quote": quote, "why": "seven is a condition"}]}
    return reply(text=f"```json\n{json.dumps(told)}\n```")


def _beside_its_file(verdict: str, quote: str = "") -> Reply:
    told = {"verdicts": [{"example": 1, "verdict": verdict, "quote": quote, "why": "seven is a condition"}]}
    return reply(text=f"{_FILE}\n\n```json\n{json.dumps(told)}\n```")


def _asked(world: World) -> int:
    """How often somebody was asked who reads the request and not the work."""
    return sum(one["data"].get("stage") == "examine" for one in world.events("ModelCalled"))


def _script(*green: Reply, examine: list[Reply] | None = None, asks: Any = None) -> Script:
    symbol = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    spec = specification(criteria, symbol, asks=asks or {"1-2": ["REQ-001"]})
    made = good_script(spec=[reply(submit(spec))], green=[reply(ADD_SLUGIFY, IMPLEMENTED), *green])
    return {**made, **({"examine": examine} if examine is not None else {})}


def _holds(world: World) -> None:
    for command in ("verify", "replay"):
        checked = world.run(command, world.task)
        assert checked.code == 0, checked.out + checked.err


def _rows(world: World) -> list[dict[str, Any]]:
    return [row for row in world.events("Examined")[-1]["data"]["rows"] if row.get("example")]


def _report(world: World) -> dict[str, Any]:
    (path,) = (world.folder / "artifacts").rglob("delivery_report.yaml")
    return dict(world.view(path.relative_to(world.folder).as_posix()))


def test_where_nobody_reads_the_request_a_human_is_asked_and_may_say_that_it_does_not_stand_alone(world: World) -> None:
    done = world.start(_script(), request=_REQUEST)
    (asked,) = done.json["escalations"]
    assert (done.code, asked["stage"]) == (3, "green"), done.out + done.err
    assert "slugify('A_b') -> 'a-b'; it is 'a_b' now" in asked["question"] and "[7]" in asked["question"]
    done = world.run("resolve", "E1", "--answer", "it needs what stands beside it", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    _holds(world)


def test_one_of_which_a_human_says_that_it_must_hold_is_firm(world: World) -> None:
    assert world.start(_script(reply(IMPLEMENTED), reply(_RIGHT, IMPLEMENTED)), request=_REQUEST).code == 3
    done = world.run("resolve", "E1", "--answer", "it must hold by itself", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    refused = [
        one["data"]
        for one in world.events("StageVerified")
        if one["data"]["stage"] == "green" and not one["data"]["passed"]
    ]
    assert refused and "slugify('A_b')" in str(refused)
    assert 'replace("_", " ")' in world.git("show", f"{done.json['branch']}:textkit.py")


@pytest.mark.parametrize(("verdict", "outcome"), [("mistaken", "dropped"), ("open", "open")])
def test_a_second_reader_who_does_not_find_it_demanded_lets_the_run_go_on(
    world: World, verdict: str, outcome: str
) -> None:
    world.settings(_SETTINGS)
    done = world.start(_script(examine=[reply(text=_FILE), _ruling(verdict)]), request=_REQUEST)
    assert (done.code, done.json["outcome"], done.json["escalations"]) == (0, "delivered", []), done.out + done.err
    (row,) = _rows(world)
    assert (row["verdict"], row["test"]) == (outcome, "example: slugify('A_b')")
    assert ("A_b" in str(_report(world)["assumptions"])) is (outcome == "open")
    shown = world.run(
        "inspect", world.task, "--step", str(world.events("ModelCalled")[-1]["data"]["step"]), "--show", "context"
    )
    assert "slugify('A_b') -> 'a-b'" in shown.out and "text.lower().split" not in shown.out
    _holds(world)


def test_a_second_reader_who_finds_it_demanded_sends_the_run_back(world: World) -> None:
    world.settings(_SETTINGS)
    examine = [reply(text=_FILE), _ruling("demanded", _STATED)]
    done = world.start(_script(reply(_RIGHT, IMPLEMENTED), examine=examine), request=_REQUEST)
    assert (done.code, done.json["outcome"], done.json["escalations"]) == (0, "delivered", []), done.out + done.err
    (back,) = [one["data"] for one in world.events("StageReopened") if one["data"]["by"] == "examine"]
    assert (back["stage"], back["by"], "slugify('A_b')" in back["findings"][0]["message"]) == ("green", "examine", True)
    assert _rows(world) == []
    _holds(world)


def test_an_examiner_who_says_what_it_thinks_of_it_beside_its_tests_saves_the_second_reader(world: World) -> None:
    world.settings(_SETTINGS)
    done = world.start(_script(examine=[_beside_its_file("right")]), request=_REQUEST)
    assert (done.code, done.json["outcome"], done.json["escalations"]) == (0, "delivered", []), done.out + done.err
    (row,) = _rows(world)
    assert (row["verdict"], row["why"], _asked(world)) == ("dropped", "seven is a condition", 1)
    tests = [one for one in world.events("Examined")[-1]["data"]["rows"] if not one.get("example")]
    assert [one["verdict"] for one in tests] == ["agrees"]
    _holds(world)


def test_an_examiner_who_finds_it_demanded_sends_the_run_back(world: World) -> None:
    world.settings(_SETTINGS)
    examine = [_beside_its_file("wrong", _STATED)]
    done = world.start(_script(reply(_RIGHT, IMPLEMENTED), examine=examine), request=_REQUEST)
    assert (done.code, done.json["outcome"], _asked(world)) == (0, "delivered", 1), done.out + done.err
    assert _rows(world) == []
    _holds(world)


def test_what_the_examiner_says_of_it_stays_where_its_file_has_to_be_written_again(world: World) -> None:
    world.settings(_SETTINGS)
    told = str(_beside_its_file("mistaken")["text"])
    examine = [reply(text=told.replace("from textkit import slugify", "import nothing_here")), reply(text=_FILE)]
    done = world.start(_script(examine=examine), request=_REQUEST)
    assert (done.code, done.json["outcome"], _asked(world)) == (0, "delivered", 2), done.out + done.err
    assert [row["verdict"] for row in _rows(world)] == ["dropped"]
    _holds(world)


def test_where_it_stays_a_human_decides(world: World) -> None:
    world.settings(_SETTINGS)
    examine = [reply(text=_FILE), _ruling("demanded", _STATED)]
    done = world.start(_script(reply(IMPLEMENTED), examine=examine), request=_REQUEST)
    (asked,) = done.json["escalations"]
    assert (done.code, asked["stage"], "a_b" in asked["question"]) == (3, "deliver", True), done.out + done.err


@pytest.mark.parametrize("examine", [[], [reply(text=_FILE)]], ids=["examiner", "second reader"])
def test_where_a_reader_is_away_a_human_decides(world: World, examine: list[Reply]) -> None:
    world.settings(_SETTINGS)
    done = world.start(_script(examine=examine), request=_REQUEST)
    (asked,) = done.json["escalations"]
    assert (done.code, "[7]" in asked["question"]) == (3, True), done.out + done.err
    done = world.run("resolve", "E1", "--answer", "it needs what stands beside it", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    _holds(world)


def test_one_that_holds_after_the_calls_before_it_is_checked_and_nobody_is_asked(world: World) -> None:
    request = "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'. After `mark('_')`, `slugify('A_b')` is 'a-b'."
    code = '''    return text.lower()


_MARKS = [" "]


def mark(sign: str) -> None:
    """Let a sign part words."""
    _MARKS.append(sign)


def slugify(text: str) -> str:
    """Join the words by hyphens."""
    for sign in _MARKS:
        text = text.replace(sign, " ")
    return "-".join(text.lower().split())
'''
    test = """from textkit import mark, slugify


def test_slugify():
    assert slugify("Hello World") == "hello-world"
    assert slugify("A_b") == "a_b"
    mark("_")
    assert slugify("A_b") == "a-b"
"""
    symbols = [
        {"name": "slugify", "signature": "(text: str) -> str", "change": "new"},
        {"name": "mark", "file": "textkit.py", "kind": "function", "signature": "(sign: str) -> None", "change": "new"},
    ]
    spec = specification(
        ["slugify('Hello World') -> 'hello-world'; after mark('_'), slugify('A_b') is 'a-b'"], *symbols
    )
    script = good_script(
        spec=[reply(submit({**spec, "asks": {"1-2": ["REQ-001"]}}))],
        red=[
            reply(
                write("tests/test_slugify.py", test),
                submit(suite("tests/test_slugify.py", ("test_slugify", "REQ-001.1", "target"))),
            )
        ],
        green=[reply(edit("    return text.lower()\n", code), IMPLEMENTED)],
    )
    done = world.start(script, request=request)
    assert (done.code, done.json["escalations"]) == (0, []), done.out + done.err
    (measured,) = [one["data"]["facts"] for one in world.events("FactsGathered") if one["data"]["name"] == "green"]
    assert measured["held_out"]["failed"] == [] and "[mark('_'), slugify('A_b')][1]" in str(
        measured["held_out"]["notes"]
    )
    _holds(world)


_MISREAD = (
    "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'. Later, `slugify('A_b')` should give 'a-b'."
)


def _refused(world: World) -> list[dict[str, Any]]:
    verdicts = [one["data"] for one in world.events("StageVerified")]
    return [one for one in verdicts if one["stage"] == "green" and not one["passed"]]


@pytest.mark.parametrize("verdict", ["mistaken", "open", "demanded"])
def test_one_that_fails_a_second_time_is_read_again_and_neither_refuses_nor_passes_by_itself(
    world: World, verdict: str
) -> None:
    world.settings(_SETTINGS)
    examine = [reply(text=_FILE), _ruling(verdict, "should give 'a-b'")]
    done = world.start(_script(reply(IMPLEMENTED), reply(_RIGHT, IMPLEMENTED), examine=examine), request=_MISREAD)
    assert (done.code, done.json["outcome"], done.json["escalations"]) == (0, "delivered", []), done.out + done.err
    assert len(_refused(world)) == 1 and "slugify('A_b')" in str(_refused(world))
    code = world.git("show", f"{done.json['branch']}:textkit.py")
    assert ('replace("_", " ")' in code) is (verdict == "demanded")
    _holds(world)


def test_without_a_reader_it_refuses_until_a_human_is_asked(world: World) -> None:
    done = world.start(_script(*[reply(IMPLEMENTED)] * 6), request=_MISREAD)
    assert (done.code, len(_refused(world)) > 1, len(done.json["escalations"])) == (3, True, 1), done.out + done.err
