"""Examples of a request, taken word for word and asserted by tests."""

from __future__ import annotations

import pytest

from agentforge.pipeline.facts.examples import asserted_in, literals, stands_in, told_in
from agentforge.verification.examples.stated_values import stated_in


@pytest.mark.parametrize(
    ("example", "request_text", "found"),
    [
        ("slugify('A b') -> 'a-b'", "Add slugify: slugify('A b') -> 'a-b' please", True),
        ("slugify('A b')  ->\n 'a-b'", "slugify('A b') -> 'a-b'", True),
        ("slugify('A b') -> 'a_b'", "slugify('A b') -> 'a-b'", False),
        ("", "anything", False),
    ],
)
def test_an_example_stands_in_the_request_or_not(example: str, request_text: str, found: bool) -> None:
    assert stands_in(example, request_text) is found


def test_literals_are_strings_and_numbers() -> None:
    assert literals("f('a', \"b c\", -3, 2.5) -> x1") == ["a", "b c", "-3", "2.5"]


def test_an_example_is_asserted_when_all_its_literals_stand_in_the_source() -> None:
    assert asserted_in("f('a') -> 'b'", 'assert f("a") == "b"')
    assert not asserted_in("f('a') -> 'b'", 'assert f("a") == "c"')
    assert not asserted_in("f('a b', 7) -> 'a-w'", 'assert f("a b", 7)\nassert f("a b") == "a-world"')
    assert not asserted_in("f(7) -> 1", "assert f(17) == 1") and asserted_in("f('') -> '#1'", 'assert f("") == "x #1"')
    assert asserted_in("f('a\\nb') -> 1", "assert f('''a\nb''') == 1")


@pytest.mark.parametrize(
    ("example", "found"),
    [
        ("don't take 'x' for the users' own 'y'", ["x", "y"]),
        ("get('k') gives 'unknown property: KEY' where the key is not there", ["k"]),
        ("get('k') gives 'unknown property: KEY'", ["k", "unknown property: KEY"]),
        ("prints 'parsing ...' for 'x'", ["x"]),
        ("hello('Ann') gives 'Hello <name>'", ["Ann"]),
        ("bold('x') gives '<b>x</b>'", ["x", "<b>x</b>"]),
        ("f('a') gives b'c'", ["a", "c"]),
        ("f('a') gives 'one\n    two'", ["a", "one\n    two"]),
        ("f(1) has the docstring \"\"\"Count.\n\nAll.\"\"\"", ["1"]),
    ],
)  # fmt: skip
def test_what_stands_for_something_else_is_no_literal(example: str, found: list[str]) -> None:
    assert literals(example) == found


def test_a_text_that_crosses_a_line_of_the_request_may_stand_in_the_test_in_any_layout() -> None:
    example = "f('a') gives 'one\n    two'"
    for source in ('f("a") == "one two"', 'f("a") == "one\\ntwo"', 'f("a") == ("one "\n        "two")'):
        assert asserted_in(example, source)
    assert not asserted_in(example, 'f("a") == "one"')


_ROW = "| `'{x,y}` | | `'x`, `'y` |"
_TOLD = "const cases = [[\"'{x,y}\", [\"'x\", '\\'y']]];\n"
_ESCAPED = "import { expand } from '../braces.js';\nexpect(expand('\\'{x,y}')).toEqual([`\\'x`, '\\'y']);\n"


def test_the_values_of_a_row_are_its_code_and_not_the_quotes_in_it() -> None:
    assert literals(_ROW) == ["'{x,y}", "'x", "'y"]
    assert literals("| `f('a')` | `\"b\"` | 5 |") == ["a", "b", "5"]
    assert literals("| `it's` | `None` | the users' `don't` |") == ["it's", "don't"]
    assert literals(r"| `\{a\|b}` | `` {a`b} `` |") == [r"\{a|b}", " {a`b} "]
    assert literals("| `--all` | `list[str]` | shows all |") == []


@pytest.mark.parametrize(("path", "source"), [
    ("tests/braces.test.js", _TOLD), ("tests/braces.test.ts", _ESCAPED),
    ("tests/braces.test.js", 'f("\'{x" + ",y}", "\'" + "x", "\\u0027y")'),
    ("tests/braces.test.js", "// 'quotes' say \"nothing\"\nf(`\\'{x,y}`, `${1}\\'x`, '\\x27y')"),
    ("tests/test_braces.py", "assert f('\\'{x,y}') == ['\\'x', '\\x27y']\n"),
    ("tests/test_braces.py", "CASES = [('\\'{x'\n    ',y}', [f'\\'x', \"'\" + 'y'])]\n"),
    ("tests/cases.json", '{"in": "\\u0027{x,y}", "out": ["\'x", "\'y"]}'),
    ("braces_test.go", "f(\"\\'{x,y}\", \"\\'x\", \"\\x27y\")"),
    ("tests/broken.test.js", "f('\\'{x,y}', '\\'x', '\\'y'"),
])  # fmt: skip
def test_a_test_asserts_a_row_however_its_language_spells_the_values(path: str, source: str) -> None:
    assert asserted_in(_ROW, stated_in(path, source))


@pytest.mark.parametrize(("path", "source"), [
    ("tests/braces.test.js", f"// {_ROW}\nexpect(expand('x')).toEqual(['x', 'y']);"),
    ("tests/braces.test.ts", f"/* {_ROW} */\nexpect(expand('{{x,y}}')).toEqual([\"'x\", \"'y\"]);"),
    ("tests/test_braces.py", f"def test_it():  # {_ROW}\n    assert expand('{{x,y}}') == ['x', 'y']\n"),
])  # fmt: skip
def test_a_comment_asserts_nothing(path: str, source: str) -> None:
    assert not asserted_in(_ROW, stated_in(path, source))


def test_a_backslash_counts_by_what_it_makes() -> None:
    assert asserted_in(r"| `\{a}` | `'` |", stated_in("a.test.js", r"""f("\\{a}", '\'')"""))
    assert not asserted_in(r"| `\{a}` | `'` |", stated_in("a.test.js", r"""f("\{a}", '\'')"""))
    assert asserted_in(r"f('\d+') gives 'it\'s'", stated_in("test_a.py", r"""assert f(r'\d+') == "it's" """))
    assert asserted_in(r"f('C:\\x') gives 'a\nb'", stated_in("test_a.py", r"""assert f(r'C:\x') == 'a\nb' """))


@pytest.mark.parametrize(("path", "source"), [
    ("test_a.py", "assert f(1_000) == -1e3"), ("test_a.py", "assert f(x=1000) == -1_000.0"),
    ("a.test.js", "expect(f(1_000)).toBe(-1e3)"), ("a.test.js", "assert.equal(f(0x3e8), -1000)"),
    ("a_test.go", "f(1000) != -1000"),
])  # fmt: skip
def test_a_number_may_be_written_in_any_way(path: str, source: str) -> None:
    assert asserted_in("f(1000) -> -1000", stated_in(path, source))
    assert not asserted_in("f(1000) -> 2", stated_in(path, source))


def test_names_and_filled_in_texts_are_seen_as_before() -> None:
    assert asserted_in("f({'size': 2}) gives 'red'", stated_in("test_a.py", "assert f(dict(size=2)) is Color.red"))
    assert asserted_in("f('a b') gives 'c'", stated_in("test_a.py", "assert f(f'{x} a b{y}') == f'{c}'"))
    assert asserted_in("f('a b') gives 'c'", stated_in("a.test.js", "test.each`in | out\n${'a b'} | ${\"c\"}`"))
    assert asserted_in("f('a b') gives 'c'", stated_in("a.test.jsx", 'expect(<p title="c">a b</p>)'))


def test_criteria_hold_a_row_whose_values_stand_in_them() -> None:
    assert told_in(_ROW, ["expand(\"'{x,y}\") gives \"'x\" and '\\'y'"])
    assert not told_in(_ROW, ['expand("{x,y}") gives "x" and "y"'])
