"""The examples of an ask, and whether its words want them or report them of today."""

from __future__ import annotations

import pytest

from agentforge.pipeline.ledger.entries import ledger_rows


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("slugify('A b') -> 'a-b'", [("slugify('A b') -> 'a-b'", "plain")]),
        ("pages(5, 2) returns 2 but should return 3.", [("pages(5, 2) -> 3", "wanted")]),
        (
            "f(1) gives 2 but should give 3, and f(g(4)) gives (5, 5) but should give (6, 1).",
            [("f(1) -> 3", "wanted"), ("f(g(4)) -> (6, 1)", "wanted")],
        ),
        ("f(g(1)) gives 2 and should give 3.", [("f(g(1)) -> 3", "wanted")]),
        ("f(1) should give 2, and f(3) gives 4.", [("f(1) -> 2", "wanted"), ("f(3) -> 4", "wanted")]),
        ("f(1) must be 2. f(3) == 4.", [("f(1) -> 2", "wanted"), ("f(3) -> 4", "plain")]),
        ("Today f(1) gives 2.", []),
        ("f(1) gives 2. It must give 3.", [("f(1) -> 2", "observed")]),
        ("f(1) prints 2, should print 3", []),
        ('cityOf({name: "Ann"}) should give "unknown"', [('cityOf({name: "Ann"}) -> "unknown"', "wanted")]),
        ("There is no example (none at all) here.", []),
        ("It should hold:\n```\n>>> f(1)\n2\n```", [("f(1) -> 2", "wanted")]),
    ],
)
def test_examples_are_read_with_what_the_words_around_them_say(request_: str, wanted: list[tuple[str, str]]) -> None:
    rows = [row for ask in ledger_rows(request_) for row in ask.get("examples", ())]  # type: ignore[attr-defined]
    assert [(row["example"], row["tense"]) for row in rows] == wanted
