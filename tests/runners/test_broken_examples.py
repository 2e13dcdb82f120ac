"""A tree that breaks an example of the request is found, however the sentence is written; one that does what it says never is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.pipeline.ledger.asks import asks_of
from agentforge.pipeline.ledger.entries import examples_of
from agentforge.verification.examples import claims
from agentforge.verification.examples.plain_check import check_claims

SYMBOLS = [
    Symbol(name=name, file="kit.py", kind="function", signature="(text)")
    for name in ("slug", "mark", "is_slug", "words")
]
BASE = 'def slug(text):\n    return "-".join(text.lower().split())\n\n\ndef is_slug(text):\n    return False\n'
HONEST = """MARKS = [" "]


def mark(sign):
    MARKS.append(sign)


def slug(text):
    if not isinstance(text, str):
        raise TypeError(text)
    for sign in MARKS:
        text = text.replace(sign, " ")
    return "-".join(text.lower().split())


def is_slug(text):
    return text == slug(text)


def words(text):
    return text.split()
"""
UNDERSCORE = HONEST.replace('MARKS = [" "]', 'MARKS = [" ", "_"]')

CASES = {
    "an arrow": ("slug('A_b') -> 'a-b'", UNDERSCORE, HONEST, "failed"),
    "its signature beside it": ("`slug(text: str) -> str` in `kit.py`: `slug('A_b')` is 'a-b'.", UNDERSCORE, HONEST, "failed"),
    "over a line": ("Underscores part words:\n`slug('A_b')`\nmust be 'a-b'.", UNDERSCORE, HONEST, "failed"),
    "a list over two lines": (
        "`words('a b')` gives ['a',\n'b'].", HONEST, HONEST.replace("text.split()", "[text]"), "failed",
    ),
    "an exception": ("`slug(3)` raises `TypeError`.", HONEST, HONEST.replace("raise TypeError(text)", "return '3'"), "failed"),
    "asked for, and so before": ("slug('A B') must be 'a-b'.", HONEST, HONEST.replace('"-"', '"+"'), "complaints"),
    "corrected in another sentence": ("slug('A_b') gives 'a_b'. It should be 'a-b': slug('A_b') is 'a-b'.", UNDERSCORE, HONEST, "failed"),
    "corrected in the same sentence": ("slug('A_b') gives 'a_b' but should give 'a-b'.", UNDERSCORE, HONEST, "failed"),
    "said, and so before": ("slug('A B') gives 'a-b'.", HONEST, HONEST.replace('"-"', '"+"'), "complaints"),
    "the last of two": (
        "`is_slug('a-b')` and `is_slug('a')` should be true.", HONEST,
        HONEST.replace("text == slug(text)", "'-' in text"), "failed",
    ),
    "the first of two": (
        "`is_slug('a-b')` and `is_slug('a')` should be true.", HONEST,
        HONEST.replace("text == slug(text)", "text == 'a'"), "conditional",
    ),
    "after a call": (
        "After `mark('_')`, `slug('A_b')` is 'a-b'.", HONEST, HONEST.replace("MARKS.append(sign)", "pass"), "conditional",
    ),
    "after a call in a block": (
        "It should be so:\n\n    >>> mark('_')\n    >>> slug('A_b')\n    'a-b'", HONEST,
        HONEST.replace("MARKS.append(sign)", "pass"), "conditional",
    ),
    "a list with a lead-in": (
        "After `mark('_')`:\n- `slug('A_b')` is 'a-b'\n- `slug('C_d')` is 'c-d'", HONEST,
        HONEST.replace("MARKS.append(sign)", "pass").replace("    for", "    if text == 'A_b': return 'a-b'\n    for"),
        "conditional",
    ),
    "beside a value": ("For `[7]`, `slug('A_b')` is 'a-b'.", UNDERSCORE, HONEST, "conditional"),
    "a table": ("| call | result | with |\n|---|---|---|\n| `slug('A_b')` | 'a-b' | `x=1` |", UNDERSCORE, HONEST, "conditional"),
}  # fmt: skip


@pytest.fixture(scope="module")
def tried(project):
    """Try the examples of a request on a tree of a small project."""
    made = project({"kit.py": BASE, "tests/test_kit.py": "def test_it(): pass\n"})
    base = made.tree()

    def check(request, source):
        read = [one for ask in asks_of(request) for one in examples_of(request, ask.start, ask.end, claims)]
        wanted = [replace(claim, asked=True) for claim in read]
        assert wanted
        verdict = check_claims(made.rig(), made.tree({"kit.py": source}), wanted, symbols=SYMBOLS, base_tree=base)
        return {
            name: len(getattr(verdict, name))
            for name in ("failed", "complaints", "conditional")
            if getattr(verdict, name)
        }

    return check


@pytest.mark.parametrize("case", CASES)
def test_what_breaks_an_example_is_found_and_what_does_it_is_not(tried, case):
    request, honest, broken, found = CASES[case]
    assert list(tried(request, broken)) == [found]
    assert tried(request, honest) == {}


def test_of_two_new_results_of_one_call_the_one_that_fails_is_for_whoever_reads_the_request(tried):
    request = "`slug('A_b')` is 'a-b'. `slug('A_b')` is 'a+b'."
    assert tried(request, UNDERSCORE) == {"conditional": 1}
    assert tried(request, HONEST) == {"failed": 2}


def test_what_held_at_the_base_behind_the_calls_before_it_is_for_whoever_reads_the_request_as_a_result_of_the_base(
    project,
):
    made = project({"kit.py": HONEST, "tests/test_kit.py": "def test_it(): pass\n"})
    request = "`mark('_')` and then `slug('A_b')` gives 'a-b'."
    (wanted,) = examples_of(request, 0, len(request), claims)
    base, tree = made.tree(), made.tree({"kit.py": HONEST.replace("MARKS.append(sign)", "pass")})
    verdict = check_claims(made.rig(), tree, [replace(wanted, asked=True)], symbols=SYMBOLS, base_tree=base)
    assert [one.row["before"] for one in verdict.complaints] == ["passed"] and not verdict.conditional


def test_a_number_that_the_base_gives_as_a_decimal_is_what_the_base_gives(project):
    source = "from decimal import Decimal\n\n\ndef slug(text):\n    return Decimal('0.12')\n"
    made = project({"kit.py": source, "tests/test_kit.py": "def test_it(): pass\n"})
    request = "slug('a') gives 0.12 and should give 0.13."
    wanted = [replace(claim, asked=True) for claim in examples_of(request, 0, len(request), claims)]
    base, tree = made.tree(), made.tree({"kit.py": source.replace("0.12", "0.13")})
    verdict = check_claims(made.rig(), tree, wanted, symbols=SYMBOLS, base_tree=base)
    assert len(wanted) == 2 and not verdict.failed and not verdict.complaints
