"""How an examiner's test file is read, and how its tests are settled by what was measured and by a second reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentforge.pipeline.examination.material import edited_lines
from agentforge.pipeline.examination.settlement import (
    disputed,
    example_rows,
    file_in,
    measured_rows,
    place_beside,
    ruled_rows,
    says_and_code,
    stands_in,
)

_REQUEST = "Add slug(text). A slug of 'A_b' is 'a-b', too.\nWhat is refused today stays refused."
_PYTHON = """import slugs

# says: "A slug of 'A_b'
#        is 'a-b'"
def test_underscore():
    assert slugs.slug("A_b") == "a-b"


class TestOthers:
    # says: "What is refused today ... refused"
    def test_none(self):
        assert True


# says: "the moon is made of cheese"
def test_cheese():
    assert False
"""
_NODE = """import test from 'node:test';
// says: "A slug of 'A_b' is 'a-b'"
test('joins at an underscore', () => {});
"""


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("```python\nx = 1\n```", "x = 1\n"),
        ("Here:\n\n```js\nshort\n```\nand\n```js\nthe longer one\n```\n", "the longer one\n"),
        ("```python\nnever closed\n", "never closed\n"),
        ("no file", ""),
        ("```\n\n```", ""),
    ],
)
def test_the_longest_block_is_the_file(answer: str, found: str) -> None:
    assert file_in(answer) == found


@pytest.mark.parametrize(
    ("suite", "place"),
    [
        ("tests/unit/test_a.py", "tests/unit/test_examined.py"),
        ("tests/a_test.py", "tests/examined_test.py"),
        ("pkg/parse_test.go", "pkg/examined_test.go"),
        ("src/a.spec.ts", "src/examined.spec.ts"),
        ("test/test-a.js", "test/test-examined.js"),
        ("src/test/java/FooTest.java", "src/test/java/ExaminedTest.java"),
        ("tests/whole.rs", "tests/examined.rs"),
    ],
)
def test_it_is_called_as_the_tests_of_the_project_are(suite: str, place: str) -> None:
    assert place_beside([suite], lambda _path: False, "x") == place


def test_it_takes_no_name_that_is_there() -> None:
    there = {"tests/test_examined.py", "tests/test_examined2.py"}
    assert place_beside(["tests/test_a.py"], there.__contains__, "x") == "tests/test_examined3.py"
    assert place_beside([], there.__contains__, "tests/test_examined.py") == "tests/test_examined3.py"


@pytest.mark.parametrize(
    ("text", "test", "says", "part"),
    [
        (_PYTHON, "t.py::test_underscore", "A slug of 'A_b' is 'a-b'", 'slug("A_b")'),
        (_PYTHON, "t.py::TestOthers::test_none[row-1]", "What is refused today ... refused", "assert True"),
        (_NODE, "a.test.js::joins at an underscore", "A slug of 'A_b' is 'a-b'", "() => {}"),
        (_PYTHON, "t.py::test_of_another_file", "", ""),
    ],
)
def test_the_words_above_a_test_are_its_own(text: str, test: str, says: str, part: str) -> None:
    found, code = says_and_code(text, test)
    assert found.rstrip("'") == says.rstrip("'")
    assert part in code


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("a slug of 'a_b' is  \"a-b\"", True),
        ("What is refused ... stays refused", True),
        ("What is refused ... is told", False),
        ("...", False),
        ("", False),
    ],
)
def test_a_quotation_is_verbatim(quote: str, stands: bool) -> None:
    assert stands_in(quote, _REQUEST) is stands


def _look(*, held: bool = False, unchecked: str = "") -> dict[str, Any]:
    return {"held": held, "got": "" if held else "AssertionError: no", "before": "failed", "unchecked": unchecked}


def _verdicts(looks: dict[str, Any], **more: Any) -> list[str]:
    return [str(row["verdict"]) for row in measured_rows(_PYTHON, looks, _REQUEST, **more)]


def test_what_holds_agrees_and_what_fails_with_words_of_the_request_is_disputed() -> None:
    names = ("t.py::test_underscore", "t.py::TestOthers::test_none", "t.py::test_cheese")
    assert _verdicts(dict.fromkeys(names, _look(held=True))) == ["agrees", "agrees", "agrees"]
    assert _verdicts(dict.fromkeys(names, _look())) == ["disputed", "disputed", "dropped"]
    assert _verdicts(dict.fromkeys(names, _look(unchecked="it was skipped"))) == ["dropped"] * 3


@pytest.mark.parametrize(
    ("verdict", "quote", "becomes"),
    [
        ("demanded", "A slug of 'A_b' is 'a-b'", "contradicts"),
        ("demanded", "a sentence of its own", "open"),
        ("demanded", "", "open"),
        ("open", "", "open"),
        ("mistaken", "", "dropped"),
        ("whatever", "", "open"),
    ],
)
def test_the_second_reader_decides_with_words_of_the_request(verdict: str, quote: str, becomes: str) -> None:
    rows = measured_rows(_PYTHON, {"t.py::test_underscore": _look()}, _REQUEST)
    told = json.dumps({"verdicts": [{"test": 1, "verdict": verdict, "quote": quote, "why": "because"}]})
    (row,) = ruled_rows(rows, f"```json\n{told}\n```", _REQUEST)
    assert row["verdict"] == becomes
    assert not disputed([row])


def test_what_the_second_reader_leaves_out_is_open_and_a_test_that_fails_again_keeps_its_verdict() -> None:
    looks = {"t.py::test_underscore": _look(), "t.py::TestOthers::test_none": _look()}
    told = json.dumps({"verdicts": [{"test": 2, "verdict": "mistaken", "why": "its setup"}]})
    rows = ruled_rows(measured_rows(_PYTHON, looks, _REQUEST), told, _REQUEST)
    assert [row["verdict"] for row in rows] == ["open", "dropped"]
    assert _verdicts(looks, known=rows) == ["open", "dropped"]
    assert _verdicts({name: _look(held=True) for name in looks}, known=rows) == ["agrees", "agrees"]
    assert [row["verdict"] for row in ruled_rows(measured_rows(_PYTHON, looks, _REQUEST), "nonsense", _REQUEST)] == [
        "open",
        "open",
    ]


def test_the_lines_that_a_change_edited_are_those_of_the_text_before_it(tmp_path: Path) -> None:
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_text("a = 1\nb = 2\nc = 3\nd = 4\n")
    after.write_text("a = 1\nb = 5\nc = 3\nnew = 0\nd = 4\n")
    assert edited_lines(before, after) == [2, 3]
    assert edited_lines(tmp_path / "created.py", after) == []


def test_a_second_reader_is_told_what_a_call_with_values_near_it_gives_and_gave() -> None:
    near: dict[str, Any] = {
        "call": "slug('A_b')", "example": "A slug of 'A_b' is 'a-b', too.", "got": "'a_b'", "was": "'A_b'",
        "near": [{"kind": "value", "value": "'a-b'"}],
    }  # fmt: skip
    other = {**near, "near": [{"kind": "value", "value": "'b'"}]}
    first, second = example_rows([near, other], _REQUEST)
    assert disputed([first, second]) == [first, second] and first["test"] != second["test"]
    assert all(one in str(first["code"]) for one in ("slug('A_b')", "'a_b'", "'A_b'", near["example"]))
    ruled = ruled_rows([first], json.dumps({"verdicts": [{"test": "1", "verdict": "mistaken", "why": "x"}]}), _REQUEST)
    assert [row["verdict"] for row in example_rows([near, other], _REQUEST, ruled)] == ["dropped", "disputed"]
