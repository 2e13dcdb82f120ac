"""Which part of a product file is tests, in Rust: modules that are compiled for tests alone, with what belongs to them."""

from __future__ import annotations

import pytest

from agentforge.languages.test_parts import (
    inner_tests,
    key_of,
    lines_of_tests,
    may_hold_tests,
    names_inner_test,
    with_blank_tests,
    with_tests_of,
    without_tests,
)
from agentforge.verification.source.test_hashes import FrozenTests, compare, freeze

_CODE = "fn one() -> u8 {\n    1\n}\n"
_TESTS = "\n/// Tests.\n#[cfg(test)]\nmod tests {\n    use super::*;\n    // é }\n    #[test]\n    fn ones() {\n        assert_eq!(one(), 1);\n    }\n}\n"
_LIB = "src/lib.rs"


def _b(text):
    return text.encode()


def test_a_file_of_the_product_may_hold_tests_where_its_language_does_it_so():
    assert [one for one in (_LIB, "build.rs", "src/tests.rs", "tests/a.rs", "a.py", "a.go", "a.ts") if may_hold_tests(one)] == [
        _LIB,
        "build.rs",
    ]  # fmt: skip
    assert (key_of(_LIB), key_of("tests/a.rs"), key_of("a.py")) == ("src/lib.rs#tests", "tests/a.rs", "a.py")
    named = ("tests::ones", "tests.ones", "parser_tests::ones", "test::ones", "latest::ones", "ones", "Parser::test")
    assert [one for one in named if names_inner_test(_LIB, one)] == list(named[:4])
    assert not names_inner_test("a.py", "tests.ones")


@pytest.mark.parametrize(
    ("attribute", "counts"),
    [
        ("#[cfg(test)]", True), ("#[ cfg( test ) ]", True), ('#[cfg(all(test, feature = "std"))]', True),
        ("#[cfg(all(unix, all(not(windows), test)))]", True), ("#[cfg(any(test, unix))]", False), ("#[cfg(not(test))]", False),
        ("#[cfg(all(unix, not(test)))]", False), ("#[cfg(all(unix, any(test, windows)))]", False), ("#[allow(test)]", False),
        ('#[cfg(feature = "test")]', False), ("// #[cfg(test)]", False),
    ],
)  # fmt: skip
def test_only_what_needs_the_tests_to_be_built_counts(attribute, counts):
    text = _CODE + _TESTS.replace("#[cfg(test)]", attribute)
    assert bool(inner_tests(_LIB, _b(text))) is counts


def test_the_product_is_the_same_wherever_a_module_was_added_or_changed():
    for text in (_CODE + _TESTS, _TESTS + _CODE, _CODE.rstrip() + _TESTS, _CODE + _TESTS.replace("1)", "2)") + "\n\n"):
        assert without_tests(_LIB, _b(text)).strip() == _b(_CODE).strip()
    for text in (
        _CODE.replace("1\n", "2\n") + _TESTS,
        _CODE + _TESTS + "fn two() {}\n",
        _CODE + "// of the product\n" + _TESTS,
        _CODE + "\n#[cfg(test)]\nmod tests {\n}\nfn two() {}\nmod more {\n}\n",
        _CODE + _TESTS.replace("// é }", "} }"),
    ):
        assert without_tests(_LIB, _b(text)) != _b(_CODE)


def test_a_module_inside_of_others_and_one_in_a_file_of_its_own_count():
    nested = f"mod inner {{\n{_CODE}{_TESTS}}}\n\n#[cfg(test)]\nmod more;\n"
    assert inner_tests(_LIB, _b(nested)).startswith(b"inner::tests\n")
    assert b"mod more;" in inner_tests(_LIB, _b(nested))
    assert without_tests(_LIB, _b(nested)) == _b(f"mod inner {{\n{_CODE.rstrip()}\n}}\n")
    moved = nested.replace("mod inner", "mod other")
    assert inner_tests(_LIB, _b(moved)) != inner_tests(_LIB, _b(nested))


def test_blank_tests_leave_all_other_lines_where_they_are():
    text = _CODE + _TESTS + _CODE.replace("one", "two")
    blank = with_blank_tests(_LIB, _b(text)).decode()
    assert [blank.split("\n")[at] for at in range(3)] == _CODE.split("\n")[:3]
    assert blank.split("\n").index("fn two() -> u8 {") == text.split("\n").index("fn two() -> u8 {")
    first = text[: text.index("/// Tests")].count("\n") + 1
    last = text[: text.index("fn two")].count("\n")
    assert lines_of_tests(_LIB, _b(text)) == sum(1 << number for number in range(first, last + 1))


def test_a_product_file_gets_the_tests_of_another_version_of_it():
    other = _CODE + _TESTS.replace("1)", "9)")
    now = f"const A: u8 = 3;\n{_CODE}{_TESTS}{_CODE.replace('one', 'two')}"
    assert with_tests_of(_LIB, _b(now), _b(other)) == _b(now.replace("1)", "9)"))
    assert with_tests_of(_LIB, _b(_CODE), _b(_CODE + _TESTS)) == _b(_CODE + _TESTS)
    assert with_tests_of(_LIB, _b(_CODE + _TESTS), _b(_CODE)) == _b(_CODE)
    assert with_tests_of(_LIB, b"\xff", _b(other)) == b"\xff"


def test_the_tests_of_a_product_file_are_frozen_and_the_rest_is_free():
    files = {_LIB: _CODE + _TESTS, "tests/a.rs": "#[test]\nfn a() {}\n"}
    frozen = freeze(files, read=lambda path: _b(files[path]))
    assert (frozen.whole, frozen.parts) == (("tests/a.rs",), (_LIB,))
    assert sorted(frozen.tests) == ["src/lib.rs::tests::ones", "tests/a.rs::a"]
    supplied = freeze([_LIB], read=lambda path: _b(files[path]), whole=(_LIB,))
    assert (supplied.whole, supplied.parts, compare(supplied, lambda _: _b(files[_LIB]))) == ((_LIB,), (), ())

    def changed(text):
        return compare(frozen, lambda path: _b({**files, _LIB: text}[path]))

    assert changed(_CODE.replace("1", "2") + _TESTS + _CODE.replace("one", "two")) == ()
    assert changed(_CODE + _TESTS.replace("1)", "2)")) == ("src/lib.rs::tests::ones",)
    assert changed(_CODE) == ("src/lib.rs::tests::ones",)
    assert changed(_CODE + _TESTS.replace("use super::*", "use super::one")) == ("src/lib.rs#tests",)
    old = FrozenTests(
        tests=frozen.tests, files={path: one for path, one in frozen.files.items() if path != "src/lib.rs#tests"}
    )
    assert compare(old, lambda path: _b({**files, _LIB: ""}[path])) == ()
