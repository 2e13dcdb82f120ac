"""Assertions are counted where they are executed."""

from __future__ import annotations

import pytest

from agentforge.verification.source.executed_assertions import conditional_only, counted
from agentforge.verification.source.test_hashes import test_functions as functions_of


def test_assertions_in_loops_and_under_conditions_are_counted_where_they_run():
    source = (
        "def test_loop(items=()):\n    for one in items:\n        assert one\n\n\ndef test_plain():\n    assert 1\n"
    )
    suspects = [name for name, node, _ in functions_of(source.encode()) if conditional_only(node)]
    assert suspects == ["test_loop"]
    names: dict = {}
    exec(counted(source.encode(), set(suspects)), names)
    names["test_loop"]([1])
    names["test_plain"]()
    with pytest.raises(AssertionError, match="no assertion of this test was executed"):
        names["test_loop"]()
