"""Frozen tests: what a change of a test file shows."""

from __future__ import annotations

import pytest

from agentforge.verification.source.test_hashes import compare, duplicates, freeze

CODE = """import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_a(n):
    assert n  # why

class TestB:
    def test_c(self): assert True
"""


def _read(files):
    return lambda path: files[path].encode() if path in files else None


def test_functions_and_files_are_hashed():
    frozen = freeze(["t.py", "data.json", "gone.py"], read=_read({"t.py": CODE, "data.json": "{}"}))
    assert list(frozen.tests) == ["t.py::test_a", "t.py::TestB::test_c"]
    assert list(frozen.files) == ["data.json", "t.py"]


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (lambda text: text, ()),
        (lambda text: text.replace("assert n", "assert 1"), ("t.py::test_a",)),
        (lambda text: text.replace("[1, 2]", "[]"), ("t.py::test_a",)),
        (lambda text: text.replace("class TestB", "@pytest.mark.skip\nclass TestB"), ("t.py::TestB::test_c",)),
        (lambda text: text + "\ntest_a = None\n", ("t.py",)),
        (lambda text: "", ("t.py::test_a", "t.py::TestB::test_c")),
        (lambda text: None, ("t.py::test_a", "t.py::TestB::test_c")),
    ],
)
def test_every_edit_is_seen(edit, changed):
    frozen = freeze(["t.py"], read=_read({"t.py": CODE}))
    text = edit(CODE)
    assert compare(frozen, _read({} if text is None else {"t.py": text})) == changed


def test_a_name_that_is_defined_twice_is_found():
    assert duplicates("t.py", b"def test_a(): pass\ndef test_a(): pass\nclass A:\n    def test_a(self): pass\n") == (
        "t.py::test_a",
    )
