"""Proves how encoded results are written, for people and to be compared."""

from __future__ import annotations

import pytest

from agentforge.verification.examples.typed_comparison import difference, shown

ONE, TWO = ["int", "0x1"], ["int", "0x2"]


def test_a_result_is_written_as_python_would_write_it() -> None:
    assert shown(["list", [ONE, ["tuple", [TWO]]]]) == "[1, (2,)]"
    assert shown(["dict", [[TWO, ONE], [ONE, TWO]]]) == "{2: 1, 1: 2}"
    assert shown(["set", []]) == "set()" and shown(["frozenset", [ONE]]) == "frozenset({1})"
    assert shown(["str", "a" * 400]).endswith("...")
    assert shown(["object", "Decimal", False, ["number", "1.20"]]) == "Decimal('1.20')"
    assert shown(["object", "Decimal", False, None]) == "an object of class Decimal"
    assert shown(["int", hex(1 << 9000)]) == "a number of 9001 bits"


def test_results_that_a_test_calls_equal_are_written_alike() -> None:
    def same(*found: object) -> bool:
        return len({shown(one, alike=True, limit=9999) for one in found}) == 1  # type: ignore[arg-type]

    assert same(["dict", [[TWO, ONE], [ONE, TWO]]], ["dict", [[ONE, TWO], [TWO, ONE]]])
    assert same(["list", [["set", [TWO, ONE]]]], ["list", [["set", [ONE, TWO]]]])
    assert same(["float", repr(0.1 + 0.2)], ["float", "0.3"])
    assert same(*(["object", "Decimal", False, ["number", text]] for text in ("1.20", "1.2", "12E-1")))
    assert not same(*(["object", "Decimal", False, ["number", text]] for text in ("1E+999999999", "1E+999999998")))
    assert same(*(["object", "Decimal", False, ["number", text]] for text in ("0", "-0.00")))
    assert not same(*(["object", "Fraction", False, ["number", text]] for text in ("1/2", "1/3")))
    assert not same(["list", [TWO, ONE]], ["list", [ONE, TWO]])
    assert not same(["float", "0.3000001"], ["float", "0.3"])
    assert not same(["int", hex(1 << 9000)], ["int", hex((1 << 9000) + 1)])
    assert not same(["str", "a" * 400], ["str", "a" * 401])


@pytest.mark.parametrize(
    ("found", "expected", "equal"),
    [
        (["frozenset", [ONE, TWO]], {2, 1}, True),
        (["set", [ONE]], frozenset({1}), True),
        (["frozenset", [ONE]], {2}, False),
        (["frozenset", [ONE]], [1], False),
        (["list", [["frozenset", [ONE]]]], [{1}], True),
        (["list", [ONE]], (1,), False),
    ],
)
def test_what_python_calls_equal_is_equal_and_of_another_type(
    found: list[object], expected: object, equal: bool
) -> None:
    assert (difference(found, expected, how="equal") == "") is equal
    assert difference(found, expected, how="exact")
