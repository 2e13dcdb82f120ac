"""What a report tells of today is never an expected result, however it is said and wherever its lines break."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from agentforge.verification.effects.observed_effects import clauses, is_observed, wanted_part
from agentforge.verification.examples.claims import claims_in

ROWS = [  # text, the wrong result of today ("" = none), the result that is asked for
    ("parse('851k') gives 851, it should be 851000", "851", "851000"),
    ("parse('851k') gives 851,\nit should be\n851000.", "851", "851000"),
    ("parse('851k') gives 851. It should be 851000.", "851", "851000"),
    ("humanize(10) returns 'ten' instead of '10'", "'ten'", "'10'"),
    ("humanize(10) should return '10' instead of 'ten'", "'ten'", "'10'"),
    ("Currently prints 'abc'; expected 'abd'", "'abc'", "'abd'"),
    ("It currently prints 5 but should print 6.", "5", "6"),
    ("f(1) should return 2, but returns 3", "3", "2"),
    ("f(1) should return 2 but it currently returns 3", "3", "2"),
    ("Expected: 851000\nActual: 851\n", "851", "851000"),
    ("Actual behaviour:\n\n>>> f(1)\n3\n\nExpected behaviour:\n\n>>> f(1)\n2\n", "3", "2"),
    ("## Actual\n```\n>>> f(1)\n3\n```\n## Expected\n```\n>>> f(1)\n2\n```", "3", "2"),
    ("f('a') -> 'b'", "", "'b'"),
    ("Add slugify. slugify('A b') returns 'a-b'.", "", "'a-b'"),
    ("f('a') returns 'b'. It should also work for 'c'.", "", "'b'"),
    ("f(1) returns 2. f(3) should return 4.", "", "2"),
    ("When I call f(2) I get 9, I expected 8.", "9", "8"),
    ("f(2) raises ValueError, it must return 8", "ValueError", "8"),
    ("f(2) was 9 (should be 8)", "9", "8"),
    ("f(2) wrongly gives 9; 8 is correct.", "9", "8"),
    ("The result of f(2) is 9 rather than 8.", "9", "8"),
    ("f(2) must give 8, not 9", "9", "8"),
    ("Today f(2) is 9. After the fix it is 8.", "9", "8"),
    ("`f(2)` outputs `9` whereas it should output `8`", "9", "8"),
    ("`total([1, 2])` evaluates to 4, while 3 is expected", "4", "3"),
    ("Got 'x', want 'y' for f(1)", "'x'", "'y'"),
    ("f(1) == 2 should hold", "", "2"),
    ("round_up(2.5) gives 2.\nWanted: 3", "2.\n", "3"),
    ("Expected output is 'A', actual output is 'B'.", "'B'", "'A'"),
    ("`intcomma(None)` crashes with TypeError. It should return 'None'.", "TypeError", "'None'"),
    ("naturalsize(1000) must return '1.0 kB'; naturalsize(0) must return '0 Bytes'.", "", "'1.0 kB'"),
    ("The function f(3) gives 7 where 8 was expected", "7", "8"),
    ("slugify(' a ') returns ' a ' - expected 'a'", "' a '", "'a'"),
    ("Bug: `width('x')` is 2. Expected 1.", "is 2", "1"),
    ("Calling split('') raises IndexError; I would expect [''].", "IndexError", "['']"),
    (
        "Steps:\n\n    >>> split('')\n    Traceback (most recent call last):\n    IndexError\n\nThe result should be [''].",
        "IndexError",
        "['']",
    ),
    ("parse('1e3') yields 1.0, which is wrong. The right answer is 1000.0.", "yields 1.0", "1000.0"),
    ("Instead of 5, add(2, 2) should give 4", "Instead of 5", "4"),
    ("add(2, 2) should give 4; right now we get 5", "5", "4"),
    ("add(2, 2) == 4", "", "4"),
    ("add(2, 2) gives 4\nadd(3, 3) gives 6", "", "6"),
    ("Fix `add`: it returns 5 for add(2, 2). It has to return 4.", "5", "4"),
    ("The value is printed as 1,0 although it should be printed as 1.0", "1,0", "1.0"),
    ("`title('o'neil')` produces \"O'Neil\"; make it \"O'neil\"", "O'Neil", "O'neil"),
    ("date('x') used to return None. Change it to raise ValueError.", "None", "ValueError"),
    ("At the moment, f(0) is None; make it 0.", "None", "0"),
    ("Now f(0) gives 1.\n\nIt should give 0.", "1", "0"),
    ("f(0) gives 1 today, and must give 0 tomorrow", "1", "0"),
    ("f(0) returned 1 in the last release. We want 0.", "1", "0"),
    ("What happens:\n\nf(0) -> 1\n\nWhat should happen:\n\nf(0) -> 0", "> 1", "0"),
    ("**Actual result:** 12\n**Expected result:** 13", "12", "13"),
    ("Add f. Examples:\n- f(1) returns 2\n- f(2) returns 3", "", "3"),
    ("f('not now') returns 'not now'", "", "'not now'"),
    ("Expected 3 but got 4 from f(1)", "4", "3"),
    ("f(1) gives 2, it should not return 2.", "gives 2", ""),
    ("f(1) gives 2; it should not give 2.", "gives 2", ""),
    ("f(1) gives 2, it should not return 3.", "3", "gives 2"),
    ("f(1) gives 2. g(1) must not give 2.", "g(1) must not give 2", "f(1) gives 2"),
    ("What happens: f(1) gives 2\nWhat should happen: 3", "gives 2", "3"),
    ("What happens: f(1) gives 2\nWhat I expect: 3", "gives 2", "3"),
    ("f(1) is 'x', or 'y'; f(2) is 'z' then. They should be 'a' and 'b'.", "'x'", "'a'"),
    ("f(1) is 'x'; f(2) is 'z'. All others should be 'b'.", "'z'", "f(1) is 'x'"),
    ("f(1): expected 3, got 4", "4", "3"),
    ("f(None) must not raise TypeError, it should return None", "TypeError", "return None"),
    ("Add `count_now(x)`. count_now(1) returns 2.", "", "2"),
    ("Add a flag --now. run --now prints 7.", "", "7"),
    ("Rename wrong_name to right_name; right_name(1) is 2", "", "2"),
    ("f(0) gives 12 and should give 13.", "12", "13"),
    ("f(0) gives 12 but should give 13, and g(1) gives 45 but should give 46.", "45", "13"),
    ("f(0) gives 12 but should give 13, and g(1) gives 45 but should give 46.", "12", "46"),
    ("f(0) gives 12 and should give 13, and g(1) gives 45 and should give 46.", "45", "46"),
    ("f(0) should give 13, and g(1) gives 45 instead of 46.", "45", "46"),
    ("f(0) should give 13 and g(1) gives 46.", "", "46"),
    ("f(0) gives 12, and g(1) gives 45. It should be 13 and 46.", "12", "46"),
    ("f(0) gives 12, and g(1) gives 45 today. We want 13 and 46.", "12", "46"),
    ("Today f(0) gives 12 and g(1) gives 45. We want 13 and 46.", "45", "46"),
    ("f(0) and g(1) currently give 45. We want 46.", "45", "46"),
    ("f(0) returns 12 and should return None for negative numbers", "", "12"),
    ("f(1) still gives 3 with the new parser (4 is right)", "3", "4"),
]


@pytest.mark.parametrize(("text", "wrong", "right"), ROWS)
def test_the_wanted_part_holds_the_right_result_and_never_the_wrong_one(text: str, wrong: str, right: str) -> None:
    wanted = wanted_part(text)
    assert right in wanted
    assert not wrong or wrong.strip() not in wanted.replace(right, "")


_TODAY = (
    "gives {0}",
    "returns {0}",
    "currently returns {0}",
    "is {0} today",
    "prints {0} right now",
    "wrongly yields {0}",
)
_WANTED = (
    "it should be {0}",
    "it must be {0}",
    "expected {0}",
    "it should return {0}",
    "I would expect {0}",
    "we want {0}",
)
_JOINTS = (", ", ". ", ", but ", "; ", ",\n", ".\n", "\n\n", " (", " - ")


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    today=st.sampled_from(_TODAY),
    wanted=st.sampled_from(_WANTED),
    joint=st.sampled_from(_JOINTS),
    wrong=st.integers(100, 999),
    right=st.integers(1000, 9999),
    break_at=st.integers(0, 8),
)
def test_no_phrase_of_a_report_makes_the_wrong_result_an_expected_one(
    today: str, wanted: str, joint: str, wrong: int, right: int, break_at: int
) -> None:
    second = wanted.format(right)
    if joint in (". ", ".\n", "\n\n"):
        second = second[0].upper() + second[1:]
    text = f"parse('{wrong}k') {today.format(wrong)}{joint}{second}{')' if joint == ' (' else ''}."
    words = text.split(" ")
    if 0 < break_at < len(words):
        text = " ".join(words[:break_at]) + "\n" + " ".join(words[break_at:])
    assert str(wrong) not in [claim.returns for claim in claims_in(wanted_part(text))]
    assert str(right) in wanted_part(text)


def test_a_quotation_is_told_by_the_text_in_which_it_stands() -> None:
    request = "parse('851k') gives 851,\nit should be 851000. Add width('a') -> 1, too."
    assert is_observed("parse('851k') gives 851", within=request)
    assert not is_observed("parse('851k') gives 851, it should be 851000", within=request)
    assert not is_observed("width('a') -> 1", within=request)
    assert is_observed(">>> f(1)\n3", within="Actual:\n\n>>> f(1)\n3\n\nExpected:\n\n>>> f(1)\n2\n")
    assert not is_observed(">>> f(1)\n2", within="Actual:\n\n>>> f(1)\n3\n\nExpected:\n\n>>> f(1)\n2\n")


def test_a_table_with_a_column_of_today_is_open_and_so_no_law() -> None:
    assert wanted_part("| input | actual | expected |\n|---|---|---|\n| 1 | 2 | 3 |") == ""


@pytest.mark.parametrize("mark", ["-", "*", "1."])
def test_an_item_of_a_list_begins_anew_behind_a_sentence(mark: str) -> None:
    text = f"{mark} `low(0)` is 0. All of them should be None.\n{mark} `high(9)` is 7, or 8 later. It should be 9.\n"
    (reported,) = [part for part in clauses(text) if "`high(9)` is 7" in part.text]
    assert reported.tense != "wanted"
    assert "low" not in reported.text
