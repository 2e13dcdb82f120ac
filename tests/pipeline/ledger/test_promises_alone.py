"""Which examples of a request can be tried by themselves."""

from __future__ import annotations

import pytest

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
        (f"with `a b c` and `None`, `{CALL}` is 1", True),
    ],
)
def test_an_example_that_comes_after_another_call_does_not_stand_alone(ask: str, alone: bool) -> None:
    assert stands_alone(CALL, ask) is alone
