"""What a specification says of the asks is read in any form; what it leaves open the harness settles and tells."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.pipeline.ledger.entries import LedgerEntry, entries_in, ledger_rows
from agentforge.pipeline.ledger.mapping import becomes_of, settled

_REQUEST = (
    "Add slugify(text) to textkit. Words are joined by single hyphens. Titles longer than 20 letters are cut. "
    "We are on Windows."
)
_REQUIREMENTS = [
    {"id": "REQ-001", "description": "slugify joins words", "acceptance_criteria": ["slugify('a b') gives 'a-b'"]},
    {"id": "REQ-002", "description": "long titles are cut", "acceptance_criteria": ["at most 20 letters"]},
    {"id": "REQ-003", "description": "later", "acceptance_criteria": ["never"], "priority": "wont"},
]


def _entries(request: str = _REQUEST) -> tuple[LedgerEntry, ...]:
    return entries_in({"asks": ledger_rows(request)})


def _spec(asks: Any = None, **changed: Any) -> dict[str, Any]:
    return {"title": "Slugs", "requirements": _REQUIREMENTS, **({} if asks is None else {"asks": asks}), **changed}


_WHOLE = {"1": ["REQ-001"], "2": ["REQ-001"], "3": ["REQ-002"], "4": "context"}


@pytest.mark.parametrize(
    "said",
    [
        _WHOLE,
        {"1-2": ["REQ-001"], "3": "REQ-002", "4": "context"},
        {"1, 2": "R1", "[ask 3]": ["REQ-2"], "4": "context: where it runs"},
        [["REQ-001"], ["REQ-001"], "REQ-002", "context"],
        [{"ask": 1, "requirements": ["REQ-001"]}, {"ask": 2, "requirement": "REQ-001"}, {"ask": 3, "becomes": "REQ-002"},
         {"ask": 4, "becomes": "context"}],
    ],
)  # fmt: skip
def test_a_mapping_is_read_in_any_form(said: Any) -> None:
    assert settled(_entries(), _spec(said)) == (_WHOLE, [])


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("not_done: no time", "not_done: no time"),
        ("not done", "not_done: no reason is given"),
        ({"not_done": "no time"}, "not_done: no time"),
        (["REQ-003"], "not_done: the specification puts REQ-003 off (priority wont)"),
    ],
)
def test_what_is_not_done_is_kept_with_its_reason(said: Any, wanted: str) -> None:
    mapping, told = settled(_entries(), _spec({**_WHOLE, "3": said}))
    assert (mapping["3"], told) == (wanted, [])


def test_an_ask_that_was_left_out_is_counted_where_it_shares_most_and_that_is_said() -> None:
    mapping, (told,) = settled(_entries(), _spec({"1": ["REQ-001"], "2": ["REQ-001"], "4": "context"}))
    assert mapping == _WHOLE
    assert "Titles longer than 20" in told and "REQ-002" in told


def test_without_any_mapping_names_and_words_decide_in_one_sentence() -> None:
    mapping, (told,) = settled(_entries(), _spec())
    assert mapping == {**_WHOLE, "4": "unsaid"}
    assert "does not say what becomes of the asks" in told and "4: nobody says" in told


@pytest.mark.parametrize("said", ["nonsense", 7, {"9": ["REQ-001"]}, {"x": "y"}, {"1": "REQ-777"}, [], {"1": None}])
def test_nonsense_is_as_good_as_nothing(said: Any) -> None:
    mapping, told = settled(_entries(), _spec(said))
    assert (mapping, bool(told)) == ({**_WHOLE, "4": "unsaid"}, True)


def test_a_request_with_one_ask_needs_no_mapping() -> None:
    assert settled(_entries("Add slugify(text) to textkit."), _spec()) == ({"1": ["REQ-001", "REQ-002"]}, [])
    assert settled(_entries("Add slugify(text) to textkit."), _spec({"1": "context"}))[0] == {
        "1": ["REQ-001", "REQ-002"]
    }


def test_a_literal_example_is_no_context() -> None:
    entries = _entries("Add slugify(text) to textkit. It is so: slugify('A b') -> 'a-b'")
    mapping, (told,) = settled(entries, _spec({"1": ["REQ-001"], "2": "context"}))
    assert mapping["2"] == ["REQ-001"]
    assert "is no context" in told


def test_a_request_of_which_all_is_context_asks_for_something_all_the_same() -> None:
    mapping, told = settled(_entries(), _spec({"1-4": "context"}))
    assert mapping == {**_WHOLE, "4": "unsaid"} and told


def test_what_the_specification_leaves_out_of_scope_is_no_place() -> None:
    entries = _entries("Add slugify(text) to textkit. Umlauts become digraphs.")
    mapping, _ = settled(entries, _spec({"1": ["REQ-001"]}, out_of_scope=["Umlauts and such letters"]))
    assert mapping["2"] == "unsaid"


@pytest.mark.parametrize("value", [["REQ-001"], "context", "not_done: why", "unsaid"])
def test_the_canonical_form_is_read_as_it_is_written(value: Any) -> None:
    assert becomes_of(value).value == value
    assert becomes_of(None).how == "unsaid"
