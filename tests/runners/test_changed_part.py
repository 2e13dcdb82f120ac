"""Mutants of what a change brought: not of what stood in a changed line before."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest

from agentforge.languages.changed_part import changed_part, new_lines
from agentforge.languages.javascript.mutants import javascript_mutants
from agentforge.languages.native.mutants import native_mutants
from agentforge.languages.python.mutants import python_mutants
from agentforge.languages.ruby.counterexamples import ruby_mutants

MAKERS = {"py": python_mutants, "js": javascript_mutants, "go": native_mutants, "rb": ruby_mutants}


def changed(before: str, after: str) -> int:
    old, new = before.split("\n"), after.split("\n")
    codes = SequenceMatcher(None, old, new).get_opcodes()
    return sum(1 << line + 1 for sign, _, _, start, end in codes if sign != "equal" for line in range(start, end))


def made(before: str, after: str, *, kind: str = "py", known: bool = True) -> set[tuple[str, str]]:
    old = before.encode() if known else None
    found = MAKERS[kind](f"a.{kind}", after.encode(), lines=changed(before, after), before=old)
    return {(one.before, one.after) for one in found}


@pytest.mark.parametrize(
    ("before", "after", "old"),
    [
        ("if a > 9:\n    f()\n", "if a > 9 and b:\n    f()\n", ("a > 9", "(a >= 9)")),
        ("if a > 9:\n    f()\n", "if a > 9 and b:\n    f()\n", ("9", "10")),
        ("x = s.count('n', 0, at) + 1\n", "x = s.count('n', 0, at) + first\n", ("0", "1")),
        ("x = f(a, 3)\n", "x = f(a, 3, b=4)\n", ("3", "4")),
        ("if a and b:\n    f(True)\n", "with lock:\n    if a and b:\n        f(True)\n", ("a and b", "(a or b)")),
        ("x = [1, 2]\n", "x = [\n    1,\n    2,\n    7,\n]\n", ("2", "3")),
        ("def f(a, n=3):\n    pass\n", "def f(a, n=3, m=8):\n    pass\n", ("3", "4")),
    ],
)
def test_what_stood_in_a_changed_line_before_is_left_as_it_is(before: str, after: str, old: tuple[str, str]) -> None:
    assert old in made(before, after, known=False)
    assert old not in made(before, after)


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("if a > 9:\n    f()\n", "if a > 9 and b:\n    f()\n", ("a > 9 and b", "(a > 9 or b)")),
        ("if a > 9:\n    f()\n", "if a > 9 and b:\n    f()\n", ("a > 9 and b", "((b))")),
        ("if a > 9:\n    f()\n", "if b > 9:\n    f()\n", ("9", "10")),
        ("x = f(a, 3)\n", "x = f(a, 3, b=4)\n", ("4", "5")),
        ("x = a + 1 or b\n", "x = a + 1\n", ("a + 1", "(a - 1)")),
        ("if c:\n    f()\n    g()\n", "if c:\n    f()\ng()\n", ("g()", "pass")),
        ("x = some(a + 5, of, these, many, other, words)\n", "y = b if c else a + 5\n", ("a + 5", "(a - 5)")),
        ("y = 1\n", "y = 1\nx = a < 7\n", ("a < 7", "(a <= 7)")),
    ],
)
def test_what_a_change_brought_or_gave_another_meaning_has_its_mutants(
    before: str, after: str, new: tuple[str, str]
) -> None:
    assert new in made(before, after)


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("js", "function f(a, b) { return a > 9; }\n", "function f(a, b) { return a > 9 && b; }\n"),
        (
            "go",
            "package k\n\nfunc F(a int, b bool) bool { return a > 9 }\n",
            "package k\n\nfunc F(a int, b bool) bool { return a > 9 && b }\n",
        ),
        ("rb", "def f(a, b)\n  return a > 9\nend\n", "def f(a, b)\n  return a > 9 && b\nend\n"),
    ],
)
def test_the_same_holds_in_every_language(kind: str, before: str, after: str) -> None:
    whole, part = made(before, after, kind=kind, known=False), made(before, after, kind=kind)
    assert (">", ">=") in whole and ("9", "10") in whole and ("&&", "||") in whole
    assert (">", ">=") not in part and ("9", "10") not in part and ("&&", "||") in part


def test_a_file_that_is_new_is_new_as_a_whole() -> None:
    text = b"def f(a):\n    return a > 9\n"
    assert python_mutants("a.py", text, lines=-1, before=None) == python_mutants("a.py", text, lines=-1)
    assert python_mutants("a.py", text, lines=6, before=b"") == python_mutants("a.py", text, lines=-1)


def test_of_a_piece_that_is_very_long_everything_counts_as_new() -> None:
    before = "".join(f"x{number} = a{number} + 1\n" for number in range(2000))
    after = before.replace(" + 1", " + 1 + b")
    part = changed_part(before, after, lines=changed(before, after))
    assert part.holds(1, (0, 11), (0, len(after)), plain=False)
    short = changed_part(before[:80], after[:80], lines=-1)
    assert not short.holds(1, (0, 11), (0, 80), plain=False) and short.holds(1, (0, 15), (0, 80), plain=False)


def test_a_line_that_only_moved_to_another_file_or_depth_is_not_new() -> None:
    before = ["a();\nif (x) {\n  b(x);\n}\n", "c();\nb(x);\n"]
    after = {"one.js": "a();\n", "two.js": "c();\n  b(x);\n    b(x);\nb(x);\nd();\n"}
    left = new_lines(before, after, {"one.js": 0, "two.js": 0b111100})
    assert left == {"one.js": 0, "two.js": 0b110000}  # two of the three stood somewhere before


def test_a_line_that_is_still_where_it_was_stands_for_no_copy_of_it() -> None:
    assert new_lines(["b(x);\n"], {"one.js": "b(x);\nb(x);\n"}, {"one.js": 0b100}) == {"one.js": 0b100}
