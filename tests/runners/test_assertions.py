"""What assertions of test files state of calls, and test files in which one states something else."""

from __future__ import annotations

import pytest

from agentforge.verification.examples.assertions import Assertion, assertions, contradicts, with_result
from agentforge.verification.examples.claims import Claim

SOURCE = """import pytest, unittest
import kit as tk
from kit import slug as s, f

WORD = "abc"


@pytest.mark.parametrize("given,result", [("x", 1), ("y", 2)])
def test_rows(given, result):
    assert f(given) == result


def test_plain():
    y = 3
    assert s("A b") == "a-b"
    assert tk.cut(WORD, 5) == y
    assert not f(1)
    assert f(2) is True and f(3)
    with pytest.raises(ValueError):
        f(-1)


class TestMethods(unittest.TestCase):
    def test_method(self):
        self.assertEqual(f("q"), [1, 2])
        self.assertRaises(KeyError, f, "z")
"""


def read(source: str = SOURCE) -> tuple[Assertion, ...]:
    return assertions("tests/test_kit.py", source.encode())


def test_every_kind_of_assertion_is_read_with_its_line_and_the_spellings_of_its_call() -> None:
    rows = [(one.test, one.line, one.calls[-1], one.returns or one.raises, one.truth) for one in read()]
    assert rows == [
        ("test_rows", 8, "kit.f('x')", "1", False),
        ("test_rows", 8, "kit.f('y')", "2", False),
        ("test_plain", 15, "kit.slug('A b')", "'a-b'", False),
        ("test_plain", 16, "cut('abc', 5)", "3", False),
        ("test_plain", 17, "kit.f(1)", "False", True),
        ("test_plain", 18, "kit.f(2)", "True", False),
        ("test_plain", 18, "kit.f(3)", "True", True),
        ("test_plain", 19, "kit.f(-1)", "ValueError", False),
        ("TestMethods::test_method", 25, "kit.f('q')", "[1, 2]", False),
        ("TestMethods::test_method", 26, "kit.f('z')", "KeyError", False),
    ]
    assert read()[2].calls == ("s('A b')", "slug('A b')", "kit.slug('A b')")
    assert read()[2].quote == 'assert s("A b") == "a-b"'


@pytest.mark.parametrize(
    "body",
    [
        "def test_a(monkeypatch):\n    assert f(1) == 2",
        "def test_a():\n    set_limit(3)\n    assert f(1) == 2",
        "def test_a():\n    with frozen(1):\n        assert f(1) == 2",
        "def test_a():\n    x = make()\n    assert f(x) == 2",
        "def setup_function():\n    pass\n\ndef test_a():\n    assert f(1) == 2",
        "def test_a():\n    assert f(",
    ],
)
def test_a_test_with_circumstances_of_its_own_states_nothing_of_a_call(body: str) -> None:
    assert read(f"from kit import f\n\n{body}\n") == ()


@pytest.mark.parametrize(
    ("number", "claim", "line"),
    [
        (0, Claim(call="f('x')", returns="7"), '@pytest.mark.parametrize("given,result", [("x", 7), ("y", 2)])'),
        (2, Claim(call="s('A b')", returns="'A-b'"), "    assert s(\"A b\") == 'A-b'"),
        (3, Claim(call="cut('abc', 5)", returns="4"), "    assert tk.cut(WORD, 5) == 4"),
        (4, Claim(call="f(1)", returns="True"), "    assert f(1) == True"),
        (7, Claim(call="f(-1)", returns="0"), "    assert f(-1) == 0"),
        (2, Claim(call="s('A b')", raises="KeyError"), "    with pytest.raises(KeyError):"),
        (8, Claim(call="f('q')", raises="KeyError"), "        with self.assertRaises(KeyError):"),
        (9, Claim(call="f('z')", returns="1"), "        self.assertEqual(f('z'), 1)"),
    ],
)
def test_an_assertion_is_written_anew_in_its_place(number: int, claim: Claim, line: str) -> None:
    one = read()[number]
    assert contradicts(one, claim)
    changed = with_result(SOURCE.encode(), one, claim)
    assert changed is not None and line in changed.decode().splitlines()
    now = [other for other in assertions("tests/test_kit.py", changed) if set(one.calls) & set(other.calls)]
    assert len(now) == 1 and not contradicts(now[0], claim)
    assert len(assertions("tests/test_kit.py", changed)) == len(read())


def test_an_exception_cannot_be_expected_in_a_row_or_in_part_of_a_larger_assertion() -> None:
    raising = Claim(call="f(3)", raises="ValueError")
    assert with_result(SOURCE.encode(), read()[0], raising) is None
    assert with_result(SOURCE.encode(), read()[6], raising) is None
