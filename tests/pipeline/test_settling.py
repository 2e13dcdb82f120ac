"""How an examiner's examples are settled by what was measured: a table."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentforge.pipeline.examination.settlement import rows_in, settled
from agentforge.verification.examples import claims, claims_javascript

_REQUEST = "Add slug(text): slug('A b') -> 'a-b'. A slug of 'A_b' is 'a-b', too. slug(-1) raises ValueError."


def _rows(*examples: dict[str, Any], **more: Any) -> list[dict[str, object]]:
    found = rows_in(json.dumps({"examples": list(examples), **more}), claims)
    assert found is not None
    return found


def _settled(rows: list[dict[str, object]], *, held: bool = False, request: str = _REQUEST) -> list[tuple[str, str]]:
    looks = {number: {"held": held, "got": "'x'", "unchecked": ""} for number in range(len(rows))}
    return [(str(row["verdict"]), str(row["why"])) for row in settled(rows, looks, request, claims)]


@pytest.mark.parametrize(
    ("example", "held", "verdict"),
    [
        ({"call": "slug('A b')", "returns": "'a-b'"}, True, "agrees"),
        ({"call": "slug('A b')", "returns": "'a-b'"}, False, "contradicts"),
        ({"call": 'slug("A b")', "returns": "'a_b'"}, False, "dropped"),
        ({"call": "slug('A b')", "returns": "'a_b'"}, True, "dropped"),
        ({"call": "slug('A_b')", "returns": "'a-b'"}, False, "contradicts"),
        ({"call": "slug('A_b')", "returns": "'a_b'"}, False, "open"),
        ({"call": "slug('other')", "returns": "'a-b'"}, False, "open"),
        ({"call": "slug('', '')", "returns": "''"}, False, "open"),
        ({"call": "slug(-1)", "raises": "ValueError"}, False, "contradicts"),
        ({"call": "slug(-1)", "raises": "TypeError"}, False, "dropped"),
        ({"call": "slug(-2)", "raises": "ValueError"}, False, "open"),
        ({"call": "slug(name)", "returns": "'a'"}, True, "agrees"),
        ({"call": "slug('a')", "returns": "a"}, False, "dropped"),
        ({"call": "import os", "returns": "1"}, False, "dropped"),
    ],
)
def test_an_example_is_settled_by_the_request_and_the_measurement(
    example: dict[str, str], held: bool, verdict: str
) -> None:
    ((found, why),) = _settled(_rows(example), held=held)
    assert (found, bool(why)) == (verdict, verdict != "agrees")


def test_two_results_for_one_call_are_the_examiners_own_slip() -> None:
    rows = _rows({"call": "slug('q')", "returns": "'q'"}, {"call": "slug( 'q' )", "returns": "'Q'"})
    assert {found for found, _ in _settled(rows)} <= {"dropped", "open"}
    assert "dropped" in {found for found, _ in _settled(rows)}


def test_what_the_code_gives_today_is_no_promise() -> None:
    request = "Fix slug: slug('Ab') should give 'ab'. Today it gives 'AB'."
    assert _settled(_rows({"call": "slug('Ab')", "returns": "'AB'"}), request=request)[0][0] != "contradicts"
    assert _settled(_rows({"call": "slug('Ab')", "returns": "'ab'"}), request=request)[0][0] == "contradicts"


def test_what_was_not_run_says_nothing_of_the_tree() -> None:
    rows = _rows({"call": "slug('q')", "returns": "'q'"})
    assert settled(rows, {}, _REQUEST, claims)[0]["verdict"] == "dropped"
    looks = {0: {"held": True, "got": "", "unchecked": "a name in it is not declared"}}
    assert settled(rows, looks, _REQUEST, claims)[0]["verdict"] == "dropped"


def test_a_property_is_one_example_for_each_input() -> None:
    told = {"property": "slug(slug(x)) == slug(x)", "inputs": ["'A b'", "''", "open('y')"], "says": "twice is once"}
    rows = _rows(properties=[told])
    assert [(row["call"], row["returns"], bool(row["dropped"])) for row in rows] == [
        ("slug(slug('A b')) == slug('A b')", "True", False),
        ("slug(slug('')) == slug('')", "True", False),
        ("slug(slug(x)) == slug(x)", "True", True),
    ]


def test_properties_of_javascript_take_their_input_too() -> None:
    told = {"property": "slug(slug(x)) === slug(x)", "inputs": ["'A b'"], "says": ""}
    found = rows_in(json.dumps({"properties": [told]}), claims_javascript)
    assert found is not None
    assert (found[0]["call"], found[0]["dropped"]) == ("slug(slug(('A b'))) === slug(('A b'))", "")


@pytest.mark.parametrize("answer", ["", "fine", "[]", "{}", '{"examples": 3}', '{"examples": []}', "```json\n{\n```"])
def test_an_answer_without_examples_is_none(answer: str) -> None:
    assert not rows_in(answer, claims)
