"""Proves globs.py."""

from __future__ import annotations

import pytest

from agentforge.globs import is_wild, matches

CASES = [
    ("*.py", "a.py", True),
    ("*.py", "src/deep/a.py", True),
    ("*.py", "a.pyc", False),
    ("/setup.py", "setup.py", True),
    ("/setup.py", "sub/setup.py", False),
    ("setup.py", "sub/setup.py", True),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/b/a.py", False),
    ("src/*.py", "x/src/a.py", False),
    ("src/**", "src/b/a.py", True),
    ("src/**", "srcx/a.py", False),
    ("**/test_*.py", "test_a.py", True),
    ("**/test_*.py", "a/b/test_a.py", True),
    ("**/test_*.py", "a/best_a.py", False),
    ("a/**/z.py", "a/z.py", True),
    ("a/**/z.py", "a/b/c/z.py", True),
    ("tests", "tests/a/b.py", True),
    ("tests/", "tests/a.py", True),
    ("tests", "mytests/a.py", False),
    ("docs/guide", "docs/guide/a.md", True),
    ("*.{ts,tsx}", "src/a.tsx", True),
    ("*.{ts,tsx}", "src/a.js", False),
    ("[ab].py", "a.py", True),
    ("[!ab].py", "a.py", False),
    ("[!ab].py", "c.py", True),
    ("?.py", "ab.py", False),
    ("?.py", "/.py", False),
    ("pages/[id].tsx", "pages/[id].tsx", True),
    ("a[.py", "a[.py", True),
    ("a{b.py", "a{b.py", True),
    ("a+b (1).py", "x/a+b (1).py", True),
    ("./src/a.py", "src/a.py", True),
    ("**", "any/thing", True),
    ("naïve/*.py", "naïve/é.py", True),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), CASES)
def test_patterns_mean_what_gitignore_means(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_only_patterns_with_choices_are_wild() -> None:
    assert [is_wild(item) for item in ("src/a.py", "src/*.py", "a?.py", "{a,b}", "[ab]")] == [
        False,
        True,
        True,
        True,
        True,
    ]
