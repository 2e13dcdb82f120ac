"""New suppressions are found by comments and marks, not by words in strings."""

from __future__ import annotations

import pytest

from agentforge.verification.source.evasion import new_suppressions


def _found(path, before, after):
    found = new_suppressions([path], before=lambda _: before.encode(), after=lambda _: after.encode())
    return [one.line for one in found]


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("x = 1  # noqa: E501", True), ("x = 1  # type: ignore[arg-type]", True), ("x = 1  # pragma: no cover", True),
        ("x = '# noqa'", False), ("x = 1  # nothing", False), ("@pytest.mark.skip", True), ("@unittest.skipIf(True, 'x')", True),
        ("pytest.skip('x')", True), ("self.skipTest('x')", True), ("line.skip()", False), ("x = 'pytest.skip'", False),
    ],
)  # fmt: skip
def test_a_line_of_python(line, counts):
    code = f"{line}\ndef f(): pass\n"
    assert _found("a.py", "", code) == ([1] if counts else [])


def test_a_suppression_that_moved_is_not_new_and_a_second_one_is():
    assert _found("a.py", "x = 1  # noqa\n", "y = 2\nx = 1  # noqa\n") == []
    assert _found("a.py", "x = 1  # noqa\n", "x = 1  # noqa\nx = 1  # noqa\n") == [2]


def test_a_line_that_was_edited_keeps_its_suppression_and_takes_no_other():
    before = "class A:  # pylint: disable=R0903\n    x: Message\n"
    assert _found("a.py", before, before.replace("A:", "A[T]:")) == []
    assert _found("a.py", before, before.replace("A:  #", "A[T]:  # noqa #").replace("R0903", "all")) == [1]
    assert _found("a.py", before, "import os\n\n\nclass B:  # pylint: disable=R0903\n    y: int\n") == [4]


def test_an_expression_keeps_its_suppression_on_a_line_of_another_form():
    sign = "# type: ignore[misc]"
    before = (
        f"def z(self):\n    return (\n        self.points[2]  {sign}\n        if self.has_z\n        else None\n    )\n"
    )
    kept = "def z(self):\n    if not self.has_z:\n        raise Missing\n    return self.points[2]"
    assert _found("a.py", before, f"{kept}  {sign}\n") == []
    assert _found("a.py", before, f"{kept}  # type: ignore\n") == [4]
    assert _found("a.py", before, f"{kept.replace('points', 'others')}  {sign}\n") == [4]
    assert _found("a.py", before, f"{kept}  {sign}\ndef y(self):\n    return self.points[2]  {sign}\n") == [6]
    assert _found("a.py", f"x = call(\n)  {sign}\n", f"y = other(3)  {sign}\n") == [1]


def test_other_languages_and_python_that_cannot_be_parsed():
    assert _found("a.ts", "", "// eslint-disable-next-line\nx()\n") == [1]
    assert _found("a.py", "", "def (  # noqa\n") == [1]


@pytest.mark.parametrize(
    ("path", "line", "counts"),
    [
        ("a.test.js", "test.only('x', f)", True), ("a.test.js", "describe.concurrent.skip('x', f)", True),
        ("a.test.js", "xit('x', f)", True), ("a.test.js", "it('skip.only', f)", False), ("a.js", "list.skip(1)", False),
        ("a_test.go", "\tt.Skip(\"later\")", True), ("a.go", "list.Skip(1)", False), ("a.rs", "#[ignore]", True),
    ],
)  # fmt: skip
def test_skips_and_only_of_other_runners(path, line, counts):
    assert _found(path, "", f"{line}\n") == ([1] if counts else [])


_MODULE = "\n#[cfg(test)]\nmod tests {\n    #[ignore]\n    fn a() { assert!(cfg!(test)); }\n}\n"


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("if cfg!(test) { 1 } else { 2 }", True), ("#[cfg(not(test))]", True), ('#[cfg(all(unix, any(feature = "a", test)))]', True),
        ("#[cfg_attr(not(test), inline)]", True), ("macro_rules! assert_eq { () => {} }", True), ("use fake as assert;", True),
        ("#[cfg(unix)]", False), ('#[cfg(feature = "test")]', False), ("macro_rules! assert_parses { () => {} }", False),
        ("let latest = cfg!(unix);", False), ("use fake as other;", False),
    ],
)  # fmt: skip
def test_a_product_file_of_rust_that_is_another_one_under_its_own_tests(line, counts):
    assert _found("src/lib.rs", "fn a() {}\n", f"{line}\nfn b() {{}}\n{_MODULE}") == ([1] if counts else [])
    assert _found("src/lib.rs", f"{line}\n", f"{line}\nfn b() {{}}\n{_MODULE}") == []
