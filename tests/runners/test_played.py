"""Assertions at the end of several steps: what the steps are given and what is expected."""

from __future__ import annotations

import pytest

from agentforge.verification.examples.assertions import played, with_result
from agentforge.verification.examples.claims import Claim

SOURCE = """from ledger import Ledger


def test_balance():
    book = Ledger()
    book.add("salary", 1000)
    book.add("rent", -250)
    assert book.balance() == 1250
"""


def test_the_steps_and_the_end_are_read_and_the_end_can_be_written_anew() -> None:
    (one,) = played("tests/test_ledger.py", SOURCE.encode())
    assert (one.name, one.inputs, one.expected) == ("balance", ("salary", "1000", "rent", "-250"), ("1250",))
    assert (one.assertion.line, one.assertion.quote) == (8, "assert book.balance() == 1250")
    changed = with_result(SOURCE.encode(), one.assertion, Claim(call="balance()", returns="750"))
    assert changed is not None and b"assert book.balance() == 750" in changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def test_balance():", "def test_balance(clock):"),
        ('    book.add("salary", 1000)\n', '    for _ in (1, 2):\n        book.add("salary", 1000)\n'),
        ("== 1250", "== total"),
    ],
)
def test_a_test_that_branches_or_takes_fixtures_tells_nothing(old: str, new: str) -> None:
    assert played("tests/test_ledger.py", SOURCE.replace(old, new).encode()) == ()
