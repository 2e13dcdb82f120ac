"""The request's ledger on the whole way: nothing that the request says is dropped, weakened or declared done by a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.world import IMPLEMENTED, edit, good_script, intake, reply, specification, submit, suite, write

if TYPE_CHECKING:
    from tests.support.world import Script, World

_REQUEST = (
    "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'. A path of more than 20 parts raises ValueError. "
    "We run Python 3.11."
)
_SYMBOL = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
_CRITERIA = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]


def _spec(asks: Any = None, **changed: Any) -> dict[str, Any]:
    return specification(_CRITERIA, _SYMBOL, **({} if asks is None else {"asks": asks}), **changed)


def _script(*specs: dict[str, Any]) -> Script:
    return good_script(spec=[reply(submit(one)) for one in specs])


def _report(world: World) -> dict[str, Any]:
    (path,) = (world.folder / "artifacts").rglob("delivery_report.yaml")
    return dict(world.view(path.relative_to(world.folder).as_posix()))


def _holds(world: World) -> None:
    for command in ("verify", "replay"):
        checked = world.run(command, world.task)
        assert checked.code == 0, checked.out + checked.err


def _sent(world: World, stage: str) -> str:
    called = [one for one in world.events("ModelCalled") if one["data"]["stage"] == stage][-1]
    shown = world.run("inspect", world.task, "--step", str(called["data"]["step"]), "--show", "context", "--json")
    return json.dumps(shown.json)


def test_the_report_shows_what_became_of_each_ask_with_tests_and_executed_lines(world: World) -> None:
    done = world.start(_script(_spec({"1-2": ["REQ-001"], "3": "context"})), request=_REQUEST)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    (measured,) = [one["data"] for one in world.events("FactsGathered") if one["data"]["name"] == "intake"]
    assert [row["number"] for row in measured["facts"]["asks"]] == [1, 2, 3]
    first, second, third = _report(world)["asks"]
    assert (first["becomes"], second["becomes"], third["becomes"]) == ("REQ-001", "REQ-001", "context")
    assert len(first["tests"]) == 2 and first["lines"] > 0
    assert second["note"] == "stands in no test: 20"
    assert done.json["asks"] == _report(world)["asks"]
    assert "3.11" in str(_report(world)["assumptions"]) and "context" in str(_report(world)["assumptions"])
    (report,) = (world.folder / "artifacts").rglob("delivery_report.md")
    assert "## What was asked" in report.read_text() and report.read_text().index("3.11") < report.read_text().index(
        "##", 200
    )
    assert "[ask 2] A path of more than 20 parts" in _sent(world, "spec")
    assert "A path of more than 20 parts" in _sent(world, "red") and "Python 3.11" not in _sent(world, "red")
    _holds(world)


def test_an_ask_that_was_forgotten_is_told_to_the_model_first(world: World) -> None:
    first, second = _spec({"1": ["REQ-001"], "3": "context"}), _spec({"1-2": ["REQ-001"], "3": "context"})
    done = world.start(_script(first, second), request=_REQUEST)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert done.json["escalations"] == []
    assert "says nothing of ask 2" in _sent(world, "spec")
    _holds(world)


def test_an_ask_that_stays_without_a_place_is_a_question_and_may_be_left_out(world: World) -> None:
    silent = _spec({"1": ["REQ-001"], "3": "context"})
    done = world.start(_script(silent, silent), request=_REQUEST)
    assert done.code == 3 and "more than 20 parts" in done.json["escalations"][0]["question"], done.out
    done = world.run("resolve", "E1", "--answer", "leave it out", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert [row["becomes"] for row in _report(world)["asks"]] == ["REQ-001", "left out, as a human said", "context"]
    _holds(world)


def test_an_ask_with_something_exact_that_no_requirement_speaks_of_is_a_question(world: World) -> None:
    silent, second = _spec({"1": ["REQ-001"], "3": "context"}), _spec({"1-2": ["REQ-001"], "3": "context"})
    done = world.start(_script(silent, silent, second), request=_REQUEST)
    (asked,) = done.json["escalations"]
    assert (done.code, asked["stage"], asked["kind"]) == (3, "spec", "question"), done.out
    assert "more than 20 parts" in asked["question"]
    labels = [choice["label"] for choice in asked["choices"]]
    assert labels[:2] == ["do it after all", "leave it out"] and "abort" in labels
    done = world.run("resolve", "E1", "--answer", "do it after all", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert [row["becomes"] for row in _report(world)["asks"]] == ["REQ-001", "REQ-001", "context"]
    assert "do it after all" in _sent(world, "spec")
    _holds(world)


def test_what_is_not_done_is_left_out_only_as_a_human_says_and_the_report_says_so(world: World) -> None:
    spec = _spec({"1": ["REQ-001"], "2": "not_done: paths are checked elsewhere", "3": "context"})
    done = world.start(_script(spec), request=_REQUEST)
    (asked,) = done.json["escalations"]
    assert done.code == 3 and "paths are checked elsewhere" in asked["question"]
    done = world.run("resolve", "E1", "--answer", "leave it out", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert [row["becomes"] for row in _report(world)["asks"]] == ["REQ-001", "left out, as a human said", "context"]
    assert "leave it out" in str(_report(world)["answers"])
    _holds(world)


def test_a_human_who_wants_it_done_is_asked_again_when_it_is_left_out_again(world: World) -> None:
    spec = _spec({"1": ["REQ-001"], "2": "not_done: too hard", "3": "context"})
    assert world.start(_script(spec, spec, spec), request=_REQUEST).code == 3
    again = world.run("resolve", "E1", "--answer", "do it after all", "--resume", "--json")
    assert again.code == 3, again.out
    assert [item["status"] for item in again.json["escalations"]] == ["resolved", "pending"]
    done = world.run("resolve", "E2", "--answer", "leave it out", "--resume", "--json")
    assert done.json["outcome"] == "delivered", done.out


def test_a_specification_without_any_mapping_is_settled_by_the_harness_and_that_is_said(world: World) -> None:
    spec = _spec(constraints=[{"description": "a path of many parts raises ValueError"}, {"description": "for Python"}])
    done = world.start(_script(spec), request=_REQUEST)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    (note,) = [row["note"] for row in _report(world)["notes"] if row["rule"] == "ask"]
    assert "1: REQ-001; 2: REQ-001" in note
    _holds(world)


def test_an_example_that_the_model_drops_is_checked_all_the_same(world: World) -> None:
    request = f"{_REQUEST} slugify('A_b') must be 'a-b'."
    script = good_script(
        intake=[reply(submit(intake(examples=[])))], spec=[reply(submit(_spec({"1-2": ["REQ-001"], "3-4": "context"})))]
    )
    done = world.start(script, "--stage-attempts", "1", request=request)
    (asked,) = done.json["escalations"]
    assert (done.code, asked["stage"]) == (3, "green"), done.out
    assert "slugify('A_b') -> 'a-b' does not hold" in asked["question"]


_MODIFY = "Let initials(text) take all words, not two: initials('ab cd ef') must be 'ace'. "
_ALL = edit("text.split()[:2]", "text.split()")
_BROKEN = edit("return text.lower()", "return text.upper()")
_TEST = """from textkit import initials, mumble


def test_all_words():
    assert initials("ab cd ef") == "ace"


def test_mumble():
    assert mumble("1 2") == "1 2"
"""


def _modify(*green: Any) -> Script:
    symbols = [
        {"name": name, "file": "textkit.py", "kind": "function", "change": "changed", "signature": "(text: str) -> str"}
        for name in ("initials", "mumble")
    ]
    spec = specification(["initials('ab cd ef') gives 'ace'", "mumble('1 2') gives '1 2'"], *symbols)
    tests = suite("tests/test_all.py", ("test_all_words", "REQ-001.1", "target"), ("test_mumble", "REQ-001.2", "guard"))
    return good_script(
        intake=[reply(submit(intake("modify", examples=[])))],
        spec=[reply(submit(spec))],
        red=[reply(write("tests/test_all.py", _TEST), submit(tests))],
        green=[*green],
    )


def test_a_base_example_that_is_stated_and_broken_is_a_question_and_the_answer_decides(world: World) -> None:
    script = _modify(
        reply(_ALL, _BROKEN, IMPLEMENTED), reply(edit("return text.upper()\n", "return text.lower()\n"), IMPLEMENTED)
    )
    done = world.start(script, request=_MODIFY + "mumble('AB') -> 'ab'.")
    (asked,) = done.json["escalations"]
    assert (done.code, asked["stage"]) == (3, "green"), done.out + done.err
    assert "mumble('AB') -> 'ab'; it is 'AB' now" in asked["question"]
    assert [one["label"] for one in asked["choices"]][:2] == ["it is what is wrong today", "it must stay"]
    done = world.run("resolve", "E1", "--answer", "it is what is wrong today", "--resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    _holds(world)


def test_a_base_example_that_the_words_ask_for_is_asked_about_when_it_is_broken_and_nobody_reads_the_request(
    world: World,
) -> None:
    script = _modify(reply(_ALL, _BROKEN, IMPLEMENTED))
    done = world.start(script, "--stage-attempts", "1", request=_MODIFY + "mumble('AB') must give 'ab'.")
    (asked,) = done.json["escalations"]
    assert (done.code, asked["kind"], asked["stage"]) == (3, "question", "green"), done.out + done.err
    assert "mumble('AB') -> 'ab'" in asked["question"]
