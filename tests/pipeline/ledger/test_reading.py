"""The examples of an ask; whether it wants them or reports them of today is not read from its words."""

from __future__ import annotations

import pytest

from agentforge.pipeline.ledger.entries import ledger_rows


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("slugify('A b') -> 'a-b'", ["slugify('A b') -> 'a-b'"]),
        ("pages(5, 2) returns 2 but should return 3.", ["pages(5, 2) -> 2", "pages(5, 2) -> 3"]),
        ("f(g(1)) gives 2 and should give 3.", ["f(g(1)) -> 2", "f(g(1)) -> 3"]),
        ("f(1) should give 2, and f(3) gives 4.", ["f(1) -> 2", "f(3) -> 4"]),
        ("f(1) must be 2. f(3) == 4.", ["f(1) -> 2", "f(3) -> 4"]),
        ("Today f(1) gives 2.", ["f(1) -> 2"]),
        ("f(1) gives 2 instead of 3.", ["f(1) -> 2", "f(1) -> 3"]),
        ("f(1) gives 2. It must give 3.", ["f(1) -> 2"]),
        ("f(1) should not give 3.", []),
        ('cityOf({name: "Ann"}) should give "unknown"', ['cityOf({name: "Ann"}) -> "unknown"']),
        ("There is no example (none at all) here.", []),
        ("It should hold:\n```\n>>> f(1)\n2\n```", ["f(1) -> 2"]),
    ],
)
def test_examples_are_read_whatever_the_words_around_them_say(request_: str, wanted: list[str]) -> None:
    rows = [row for ask in ledger_rows(request_) for row in ask.get("examples", ())]  # type: ignore[attr-defined]
    assert [row["example"] for row in rows] == wanted
