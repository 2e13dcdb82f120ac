"""The rule-based token count against a real vocabulary, and the cuts."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agentforge.tokens import count_tokens, cut_end, cut_middle

CORPORA = {
    "code": "import agentforge.messages as m\n" + (__import__("pathlib").Path(__file__).read_text() * 3),
    "prose": "The run is one append-only log of events. State is a fold of the log, and nothing else is ever read back. "
    * 40,
    "yaml": "requirements:\n  - id: REQ-001\n    description: slugify lowers the text\n    priority: must\n" * 40,
    "json": '{"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}' * 40,
}


@pytest.mark.parametrize("name", CORPORA)
def test_count_stays_near_a_real_vocabulary(name: str) -> None:
    toktok = pytest.importorskip("toktok")
    real = toktok.batch_count([CORPORA[name]], "o200k_base", threads=1)[0]
    assert 0.85 * real <= count_tokens(CORPORA[name]) <= 1.35 * real


def test_count_of_nothing_is_zero_and_of_a_word_is_one() -> None:
    assert (count_tokens(""), count_tokens("word"), count_tokens("a b")) == (0, 1, 2)


def test_a_text_that_fits_is_not_touched() -> None:
    assert cut_middle("short\n", limit=16) == "short\n"


def test_the_middle_is_cut_and_the_cut_is_told() -> None:
    text = "".join(f"line {number}\n" for number in range(400))
    cut = cut_middle(text, limit=100, note="read_file offset={first}")
    assert cut.startswith("line 0\n")
    assert cut.endswith("line 399\n")
    head, _, tail = cut.partition("... ")
    first, last = head.count("\n") + 1, 400 - tail.count("\nline ")
    marker = f"... {last - first + 1} lines omitted ({first}-{last} of 400); read_file offset={first} ...\n"
    assert cut == f"{head}{marker}{tail.partition(chr(10))[2]}"
    assert count_tokens(cut) <= 100


@given(st.text(max_size=3000), st.integers(min_value=16, max_value=200))
def test_cuts_never_cost_more_than_the_limit(text: str, limit: int) -> None:
    assert count_tokens(cut_end(text, limit=limit)) <= limit
    assert count_tokens(cut_middle(text, limit=limit)) <= limit + 8


def test_a_text_that_is_cut_twice_counts_the_lines_of_the_first_text() -> None:
    text = "".join(f"line {number}\n" for number in range(400))
    again = cut_middle(cut_middle(text, limit=300, note="more"), limit=100)
    kept = sum(line.startswith("line ") for line in again.splitlines())
    first = again.partition("... ")[0].count("\n") + 1
    assert f"... {400 - kept} lines omitted ({first}-{first + 399 - kept} of 400) ...\n" in again
