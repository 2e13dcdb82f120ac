"""What of a request's examples is tried by itself, and what only in doubt: sentences as people write them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from agentforge.pipeline.ledger.asks import asks_of
from agentforge.pipeline.ledger.entries import examples_of
from agentforge.verification.examples import claims, claims_javascript

if TYPE_CHECKING:
    from types import ModuleType

Kinds = dict[str, str]


def _kinds(request: str, reader: ModuleType) -> Kinds:
    """firm = tried by itself, and refuses; conditional = tried, and somebody reads the request where it fails."""
    found: Kinds = {}
    for ask in asks_of(request):
        for claim in examples_of(request, ask.start, ask.end, reader):
            kind = "conditional" if claim.beside else "firm"
            if found.get(claim.text) != "firm":
                found[claim.text] = kind
    return found


PYTHON: list[tuple[str, Kinds]] = [
    # by themselves
    ("slugify('A b') -> 'a-b'", {"slugify('A b') -> 'a-b'": "firm"}),
    ("Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'.", {"slugify('Hello World') -> 'hello-world'": "firm"}),
    ("Add `slugify` to `textkit`, so that `slugify('A b')` gives `'a-b'`.", {"slugify('A b') -> 'a-b'": "firm"}),
    ("`slugify(text: str) -> str` lowers: `slugify('A')` is 'a'.", {"slugify('A') -> 'a'": "firm"}),
    ("`src/textkit.py` needs `slugify()`; `slugify('A b')` must be 'a-b'", {"slugify('A b') -> 'a-b'": "firm"}),
    ("`f('b')` is 2 and `f('a')` is 1", {"f('b') -> 2": "firm", "f('a') -> 1": "firm"}),
    ("f(1) should give 2, and f(3) gives 4.", {"f(1) -> 2": "firm", "f(3) -> 4": "firm"}),
    ("`parse('x')` raises `ValueError`, `parse('1')` returns 1.", {"parse('x') raises ValueError": "firm", "parse('1') -> 1": "firm"}),
    ("`f([1, 2])` gives `[2, 1]`; an empty list stays: `f([])` gives `[]`.", {"f([1, 2]) -> [2, 1]": "firm", "f([]) -> []": "firm"}),
    ("`register(text, plus=True)` is new, and `f('a')` is 1", {"f('a') -> 1": "firm"}),
    ("bold('x') gives '<b>x</b>'", {"bold('x') -> '<b>x</b>'": "firm"}),
    ("Capitals stay: `shout('hi')` is 'HI!'", {"shout('hi') -> 'HI!'": "firm"}),
    ("`is_even(2)` is true, `is_even(3)` is false.", {"is_even(2) -> True": "firm", "is_even(3) -> False": "firm"}),
    ("Inbox('ann') is kept: `Inbox('ann').count()` is 0", {"Inbox('ann').count() -> 0": "firm"}),
    # tables, doctests, blocks of code
    ("| call | result |\n|---|---|\n| `f(1)` | 2 |\n| `f(2)` | 3 |", {"f(1) -> 2": "firm", "f(2) -> 3": "firm"}),
    ("| call | result | where |\n|---|---|---|\n| `f(1)` | 2 | `strict=True` |", {"f(1) -> 2": "conditional"}),
    ("It should hold:\n```\n>>> f(1)\n2\n>>> f(2)\n3\n```", {"f(1) -> 2": "firm", "f(2) -> 3": "firm"}),
    ("It should hold:\n\n    >>> register('q')\n    >>> f(1)\n    2", {"f(1) -> 2": "conditional"}),
    ("Results:\n\n    f(1) -> 2\n    f(2) -> 3", {"f(1) -> 2": "firm", "f(2) -> 3": "firm"}),
    ("Results:\n\n    open(1)\n    f(2) == 3", {"f(2) -> 3": "conditional"}),
    ("- f(1) gives 2\n- f(2) gives 3", {"f(1) -> 2": "firm", "f(2) -> 3": "firm"}),
    # other code stands there
    ("After `open(1)`, `f(2)` is 3.", {"f(2) -> 3": "conditional"}),
    ("after open(1), f(2) is 3", {"f(2) -> 3": "conditional"}),
    ("Nach `open(1)` is `f(2)` == 3.", {"f(2) -> 3": "conditional"}),
    ("`f(2)` gives '/1' for `[4]`, and throws for `{}`.", {"f(2) -> '/1'": "conditional"}),
    ("`f(2)` gives '/1'. It is there for `[4]`.", {"f(2) -> '/1'": "firm"}),
    ("With `a b c` and `None`, `f('a')` is 1", {"f('a') -> 1": "conditional"}),
    ("With `strict=True`, `f(2)` gives 3.", {"f(2) -> 3": "conditional"}),
    ("With `--strict`, `f(2)` gives 3.", {"f(2) -> 3": "conditional"}),
    ("Where `STRICT=1` is set:\n- `f(2)` gives 3\n- `f(4)` gives 5", {"f(2) -> 3": "conditional", "f(4) -> 5": "conditional"}),
    ("`f(x)` for `x = 4` gives 5", {}),
    ("`f(0)`, then `f(1)` gives 3.", {"f(0) -> 3": "conditional", "f(1) -> 3": "firm"}),
    ("`f(1)` and `f(2)` should be 3.", {"f(1) -> 3": "conditional", "f(2) -> 3": "firm"}),
    # placeholders
    ("`f(..., 1)` gives 3 and `g([1, ...])` gives [2]", {}),
    ("`g(1)` gives `[1, ..., 9]`", {}),
    ("`get('x')` gives 'unknown property: KEY' where the key is not there", {}),
    ("`hello('Ann')` is 'Hello <name>'", {"hello('Ann') -> 'Hello <name>'": "conditional"}),
    ("`read('f')` gives 'reading {path}', with the path in it", {"read('f') -> 'reading {path}'": "conditional"}),
    ("`shorten('abcdef', 3)` gives 'abc...'", {"shorten('abcdef', 3) -> 'abc...'": "conditional"}),
    # of today, which the base tells
    ("Currently `f(1)` returns 2.", {"f(1) -> 2": "firm"}),
    ("f(1) gives 2. It must give 3.", {"f(1) -> 2": "firm"}),
    ("pages(5, 2) returns 2 but should return 3.", {"pages(5, 2) -> 2": "firm", "pages(5, 2) -> 3": "firm"}),
    (
        "safe('17') returns true, although it is parsed into 16. So safe('17') and safe('0.4') should be false. safe('2') stays safe.",
        {"safe('17') -> True": "firm", "safe('17') -> False": "conditional", "safe('0.4') -> False": "firm"},
    ),
    # over line breaks
    ("The result of\n`f(1)`\nshould be 3.", {"f(1) -> 3": "firm"}),
    ("`f([1,\n   2])` gives 3.", {"f([1,    2]) -> 3": "firm"}),
    ("`f(1)` returns\n[1, 2]", {"f(1) -> [1, 2]": "firm"}),
    ("`f(1)` returns [1,\n2].", {"f(1) -> [1, 2]": "firm"}),
    ("After\n`open(1)`,\n`f(2)` is 3.", {"f(2) -> 3": "conditional"}),
    ("f(1) -> 2\nf(2) -> 3", {"f(1) -> 2": "firm", "f(2) -> 3": "firm"}),
]  # fmt: skip

JAVASCRIPT: list[tuple[str, Kinds]] = [
    ('slug("a b") === "a-b"', {"slug(\"a b\") -> 'a-b'": "firm"}),
    ("`cityOf({ name: 'Ann' })` should give `null`.", {"cityOf({ name: 'Ann' }) -> None": "firm"}),
    ("`lib/utils.js` should export `digits(value: string): string`; `digits('2.3')` is '23'.", {"digits('2.3') -> '23'": "firm"}),
    ('compile("/:0") gives "/123" for `{ 0: "123" }`, and throws for `{}`.', {"compile(\"/:0\") -> '/123'": "conditional"}),
    ('After `addRoute(1)`, `find("/a")` returns `[1]`.', {'find("/a") -> [1]': "conditional"}),
    ("`find('/a')` returns `[{ data: { n: 1 } },\n  { data: { n: 2 } }]`.",
     {"find('/a') -> [{'data': {'n': 1}}, {'data': {'n': 2}}]": "firm"}),
    ("`sort([2, 1])` gives `[1, 2]`, `sort([])` gives `[]`.", {"sort([2, 1]) -> [1, 2]": "firm", "sort([]) -> []": "firm"}),
    ("`parse('x')` throws a TypeError", {"parse('x') raises TypeError": "firm"}),
    ("`parse(...)` gives 3", {}),
    ("safe('1') and safe('2') should be false", {"safe('1') -> False": "conditional", "safe('2') -> False": "firm"}),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "kinds"), PYTHON)
def test_sentences_about_python(request_: str, kinds: Kinds) -> None:
    assert _kinds(request_, claims) == kinds


@pytest.mark.parametrize(("request_", "kinds"), JAVASCRIPT)
def test_sentences_about_javascript(request_: str, kinds: Kinds) -> None:
    assert _kinds(request_, claims_javascript) == kinds


@pytest.mark.parametrize(
    "request_",
    [
        'Add `func (p *Properties) MustGet(key string) int`: it panics with "unknown property: KEY" where the key is not there.',
        "`Tokenizer::from(text)` should give the DtdStart at 0..15.",
        'RealIPFromHeaders("CF-Connecting-IP") does not touch a request that has only X-Real-IP.',
    ],
)
def test_sentences_about_other_languages_hold_nothing_that_python_could_try(request_: str) -> None:
    assert _kinds(request_, claims) == _kinds(request_, claims_javascript) == {}


def test_the_calls_before_an_example_are_its_steps() -> None:
    request = "After `open(1)` and `g('x')`, `f(2)` is 3, as with `h(4)`."
    (claim,) = examples_of(request, 0, len(request), claims)
    assert claim.beside == ("open(1)", "g('x')", "h(4)")
    assert claim.steps == "[open(1), g('x'), f(2)][2]"


def test_calls_that_share_a_result_are_tried_one_after_the_other_where_the_last_does_not_hold_alone() -> None:
    request = "After `push(1)`, `push(2)` gives 2."
    last, first = examples_of(request, 0, len(request), claims)
    assert (last.call, last.beside, last.steps) == ("push(2)", (), "[push(1), push(2)][1]")
    assert (first.call, first.beside) == ("push(1)", ("push(2)",))


def test_what_a_block_prepares_is_told_of_its_example() -> None:
    request = textwrap.dedent("""\
        With these two:

            addRoute("GET", "/foo");
            addRoute("GET", "/bar");
            find("/foo") == 1
        """)
    (claim,) = examples_of(request, 0, len(request), claims_javascript)
    assert claim.beside == ('addRoute("GET", "/foo")', 'addRoute("GET", "/bar")')
