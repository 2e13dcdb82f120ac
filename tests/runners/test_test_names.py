"""Tests are named by their source in languages that are compiled, or whose file cannot be loaded yet."""

from __future__ import annotations

import pytest

from agentforge.languages.catalogue import has_tests, named_tests
from agentforge.verification.source.test_hashes import compare, duplicates, freeze

_JS = """import { test } from "node:test";
test("plain", () => {});
describe('group [a]', () => { it(`inner`, () => {}); it.only("it\\'s", () => {}); test(`${computed}`, () => {}); });
"""
_RUST = "#[test]\nfn one() {}\nmod tests {\n    #[tokio::test]\n    #[ignore]\n    async fn two() {}\n    fn helper() {}\n}\n"


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.test.ts", _JS, ["plain", "group [a] > inner", "group [a] > it's"]),
        (
            "a_test.go",
            "package a\nfunc TestX(t *testing.T) {}\nfunc helper() {}\nfunc ExampleY() {}\n",
            ["TestX", "ExampleY"],
        ),
        ("tests/a.rs", _RUST, ["one", "tests::two"]),
        ("a.txt", "test('a')", []),
    ],
)
def test_tests_are_named_as_their_runner_tells_them(path, text, names):
    assert [name for name, _text in named_tests(path, text.encode())] == names


def test_a_changed_test_of_another_language_is_named_and_a_second_one_of_its_name_found():
    before = b"test('a', () => { check(1); });\ntest('b', () => {});\n"
    frozen = freeze(["a.test.js"], read=lambda _path: before)
    assert compare(frozen, lambda _path: before.replace(b"check(1)", b"check(2)")) == ("a.test.js::a",)
    assert duplicates("a.test.js", before + b"test('a', () => {});\n") == ("a.test.js::a",)


@pytest.mark.parametrize(
    ("path", "text", "held"),
    [
        (
            "test/a.test.ts",
            'describe("f", () => { test.each([[1, 2]])("%s => %s", (a, b) => { expect(f(a)).toBe(b) }) })',
            True,
        ),
        ("test/a.test.ts", "for (const one of cases) { it(`takes ${one}`, () => {}) }", True),
        (
            "test/helper.ts",
            "export const cases = [1, 2];\nexport function tester() { return cases.map((one) => one + 1) }\n",
            False,
        ),
        ("a_test.go", "package a\n\nfunc TestA(t *testing.T) {}\n", True),
        ("a_test.go", "package a\n\nfunc helper() {}\n", False),
    ],
)
def test_a_file_holds_tests_whatever_their_titles_are_made_of(path: str, text: str, held: bool) -> None:
    assert has_tests(path, text.encode()) is held
