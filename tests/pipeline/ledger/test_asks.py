"""A request is split by its layout: nothing but markup is left out, nothing is in two asks."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from agentforge.pipeline.ledger.asks import asks_of, numbered, values_of

_ISSUE = """\
Hi! We use textkit a lot.

The shout() function crashes on None, e.g. for empty rows. It should return "" instead. basket.py uses it.

## Rules
The result must:
- keep the exclamation mark. Always.
- have at most 3 of them
  over two lines

```python
>>> shout(None)
''
```
slugify('Hello') -> 'hello'
slugify('') -> ''

| call | result |
|---|---|
| f(1) | 2 |

<!-- what the template says -->
> quoted words. They go on
> here.

Thanks!
"""


def _texts(request: str) -> list[str]:
    return [request[one.start : one.end] for one in asks_of(request)]


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("Add slugify(text): slugify('A. b') -> 'a-b'", ["Add slugify(text): slugify('A. b') -> 'a-b'"]),
        ("Do this. Then that.", ["Do this.", "Then that."]),
        ("Keep e.g. This one. Fine. It stays.", ["Keep e.g. This one. Fine.", "It stays."]),
        (
            "It is 3.5 metres. max_items stays. cityOf(x) too.",
            ["It is 3.5 metres.", "max_items stays.", "cityOf(x) too."],
        ),
        ("Rules:\n- one thing\n- another thing", ["Rules:\n- one thing", "another thing"]),
        ("# Title\n\nThe text here.", ["Title\n\nThe text here."]),
        ("Title\n=====\nThe text here.", ["Title\n=====\nThe text here."]),
        ("It fails:\n\n    f(1)\n    f(2)\n\nSee there now.", ["It fails:\n\n    f(1)\n    f(2)", "See there now."]),
        ("Nothing ends here", ["Nothing ends here"]),
        ("1. First thing\n2) second thing", ["First thing", "second thing"]),
        ("- [ ] a task\n- [x] another task", ["a task", "another task"]),
        ("全部の行を消す。次に保存する。", ["全部の行を消す。", "次に保存する。"]),
        ("```\nnever closed", ["```\nnever closed"]),
        ("<untrusted ab12>\nA review says so.\n</untrusted ab12>", ["A review says so."]),
        ("", []),
        ("  \n\n---\n", []),
        ("# Only a heading", ["Only a heading"]),
    ],
)
def test_requests_are_split_as_they_are_laid_out(request_: str, wanted: list[str]) -> None:
    assert _texts(request_) == wanted


def test_an_issue_with_paragraphs_a_list_code_and_a_table() -> None:
    assert [(one.number, one.kind) for one in asks_of(_ISSUE)] == [
        (1, "sentence"), (2, "sentence"), (3, "sentence"), (4, "sentence"), (5, "item"), (6, "code"), (7, "code"),
        (8, "table"), (9, "sentence"), (10, "sentence"), (11, "sentence"),
    ]  # fmt: skip
    told = _texts(_ISSUE)
    assert told[4] == "Rules\nThe result must:\n- keep the exclamation mark. Always."
    assert told[5].startswith("have at most 3") and told[5].endswith("''\n```")
    assert told[6] == "slugify('Hello') -> 'hello'\nslugify('') -> ''"


def test_the_numbers_stand_before_the_asks_and_the_words_stay_as_they_are() -> None:
    pairs = [(one.number, one.start) for one in asks_of(_ISSUE)]
    told = numbered(_ISSUE, pairs)
    assert re.sub(r"\[ask \d+\] ", "", told) == _ISSUE
    assert "- [ask 6] have at most 3" in told
    assert numbered("Only one.", [(1, 0)]) == "Only one."


def test_a_request_without_end_has_forty_asks_and_nothing_is_lost() -> None:
    request = "\n\n".join(f"Paragraph number {number} says this. It also says that." for number in range(90))
    told = _texts(request)
    assert len(told) <= 40
    assert re.findall(r"\d+", " ".join(told)) == re.findall(r"\d+", request)


_LINES = st.lists(
    st.sampled_from(
        [
            "A plain sentence. And another one!", "goes on in small letters,", "- an item: with more", "  * nested one", "3. third",
            "## Heading here", "Lead in:", "```python", "x = f(1)", "```", "    indented code", "| a | b |", ">>> f(2)", "4",
            "f('a') -> 'b'", "> quoted text", "---", "", "", "Ünïcode ends. 次の文。", "`code span` and \"a. B\" quoted", "===",
        ]
    ),
    max_size=24,
)  # fmt: skip


@given(_LINES)
def test_every_character_that_is_no_markup_is_in_exactly_one_ask(lines: list[str]) -> None:
    request = "\n".join(lines)
    asks = asks_of(request)
    assert all(one.end <= other.start for one, other in pairwise(asks))
    assert all(one.start < one.end for one in asks)
    covered = {place for one in asks for place in range(one.start, one.end)}
    outside = "".join(sign if place not in covered else " " for place, sign in enumerate(request))
    left = re.sub(r"(?m)^[\s>]*(?:[-*+#=|]+|\d{1,3}[.)])?", "", outside)
    assert not re.search(r"\w", left), (left, [request[one.start : one.end] for one in asks])


@given(st.text(max_size=400))
def test_any_text_is_split_without_overlaps(text: str) -> None:
    asks = asks_of(text)
    assert all(0 <= one.start < one.end <= len(text) for one in asks)
    assert all(one.end <= other.start for one, other in pairwise(asks))


def test_values_are_code_quoted_texts_and_numbers_and_no_apostrophes() -> None:
    assert values_of("It doesn't cut `max_len` at 20 letters, isn't 'a b' and -3.5, UTF-8, #12, v2, 1.2.3") == (
        "max_len", "20", "a b", "-3.5",
    )  # fmt: skip
