"""Which examples of a request can be tried by themselves."""

from __future__ import annotations

import pytest

from agentforge.pipeline.ledger.entries import is_wanted_somewhere
from agentforge.pipeline.ledger.promises import stands_alone

CALL = "f('a').get('q')"


@pytest.mark.parametrize(
    ("ask", "alone"),
    [
        (f"`{CALL}` is 1", True),
        (f"after `register('a', plus=False)`, `{CALL}` is 1", False),
        (f"`register(text, plus=True)` is new, and `{CALL}` is 1", True),
        (f"`f('b')` is 2 and `{CALL}` is 1", True),
        (f"`{CALL}` is 1, and `register('a')` changes nothing", True),
        (f"`{CALL}` gives '/1' for `[4]`, and throws for `{{}}`", False),
        (f"`{CALL}` gives '/1'. It is there for `x`", True),
        (f"with `a b c` and `None`, `{CALL}` is 1", True),
    ],
)
def test_an_example_that_comes_after_another_call_does_not_stand_alone(ask: str, alone: bool) -> None:
    assert stands_alone(CALL, ask) is alone


REPORTED = (
    "isSafe('17') returns true, although the number is parsed into 16. "
    "So isSafe('17') and isSafe('0.4') should be false, and isSafe('2') stays safe. isSafe('3') returns true."
)


@pytest.mark.parametrize(("call", "wanted"), [("isSafe('17')", True), ("isSafe('0.4')", True), ("isSafe('3')", False)])
def test_what_is_stated_of_a_call_of_which_another_sentence_wants_something_may_be_a_report(
    call: str, wanted: bool
) -> None:
    assert is_wanted_somewhere(REPORTED, call) is wanted
