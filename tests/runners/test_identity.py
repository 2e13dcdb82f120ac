"""Ids whose paths, names and parameters hold the characters that ids are made of."""

from __future__ import annotations

import pytest

from agentforge.testing.outcome import file_of, means, without_parameters
from agentforge.testing.report_stream import selected
from agentforge.verification.source.test_hashes import test_hashes


@pytest.mark.parametrize(
    ("nodeid", "path", "bare"),
    [
        ("tests/test_a.py::test_a[x::y]", "tests/test_a.py", "tests/test_a.py::test_a"),
        ("app/[id]/page.test.ts::shows > it", "app/[id]/page.test.ts", "app/[id]/page.test.ts::shows > it"),
        ("t.py::T::test[a]b[c]", "t.py", "t.py::T::test"),
        ("t.js::misc > turns [H,V] => L", "t.js", "t.js::misc > turns [H,V] => L"),
        ("t.test.ts::takes [a]", "t.test.ts", "t.test.ts::takes [a]"),
        ("a_test.go::TestA/b[1]", "a_test.go", "a_test.go::TestA/b[1]"),
        ("a_test.go::TestA[b_:_ü/[1]]", "a_test.go", "a_test.go::TestA"),
        ("t.py::test[\\x00ü/]", "t.py", "t.py::test"),
    ],
)
def test_a_bracket_in_the_path_is_no_parameter(nodeid, path, bare):
    assert (file_of(nodeid), without_parameters(nodeid)) == (path, bare)


@pytest.mark.parametrize(
    ("nodeid", "path", "name", "meant"),
    [
        ("t.py::T::test_a[1]", "t.py", "test_a", True),
        ("t.py::T::test_a[1]", "t.py", "T.test_a", True),
        ("t.py::T::test_a[1]", "t.py", "t.py::T::test_a", True),
        ("t.py::T::test_a[1]", "t.py", "test_a[2]", True),
        ("t.py::T::test_ab", "t.py", "test_a", False),
        ("a.test.js::group > lowers [x] 1.5", "a.test.js", "lowers [x] 1.5", True),
        ("a.test.js::group > lowers [x]", "a.test.js", "group > lowers [x]", True),
        ("a.test.js::lowers", "b.test.js", "lowers", False),
        ("tests/a.rs::m::one", "tests/a.rs", "m::one", True),
    ],
)
def test_a_declared_name_means_an_id(nodeid, path, name, meant):
    assert means(nodeid, path=path, name=name) is meant


@pytest.mark.parametrize(
    ("one", "chosen"),
    [
        ("a/b.js::g > t", True),
        ("a/b.js::g", True),
        ("a/b.js", True),
        ("a", True),
        ("a/", True),
        ("a/b", False),
        ("a/b.js::t", False),
    ],
)
def test_ids_files_folders_and_groups_select(one, chosen):
    assert selected("a/b.js::g > t", {one}) is chosen


@pytest.mark.parametrize(
    ("said", "title", "same"),
    [
        ("adds %i to $b", "sums > adds 1 to [2]", True),
        ("sums > adds %i to $b", "sums > adds 1 to 2", True),
        ("is (%s) ::%j", 'is (a.b*) ::{"x": [1]}', True),
        ("adds %i", "subtracts 1", False),
        ("%s", "anything", False),
        ("costs 5% of $", "costs 5% of all", False),
    ],
)
def test_the_title_of_many_cases_means_each_of_them(said, title, same):
    assert means(f"test/a.test.js::{title}", path="test/a.test.js", name=said) is same


def test_a_test_under_a_condition_of_the_runner_has_its_title_and_one_of_many_cases_has_none():
    source = b"""describe('streams', function () {
  it.skipIf(!here)('is cancelled', async function () { no() })
  it.runIf(here).skip('is read', () => {})
  it.each([1, 2])('takes %i', () => {})
  test.if(here)('runs', () => {})
})
"""
    found = [name for name, _ in test_hashes("test/a.spec.ts", source)]
    assert found == ["streams > is cancelled", "streams > is read", "streams > runs"]
