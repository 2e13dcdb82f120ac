"""Which tests of the base are looked at before a change, and how it is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from agentforge.canonical import canonical_bytes
from agentforge.pipeline.facts.impact import impact_text, quick_and_long, within_share
from tests.support.run_states import with_fields
from tests.support.stage_states import before

TOOK = {"a": 0.1, "sleeps": 2.1, "b": 0.1, "c": 0.1}


def test_a_slow_test_does_not_keep_out_the_quick_ones_behind_it() -> None:
    state = with_fields(before("green"), evidence={"baseline": "d"})
    state = with_fields(state, facts={"baseline": {"tests": 4, "duration_s": 5.0}})
    blobs = SimpleNamespace(get=lambda _digest: canonical_bytes({"durations": TOOK}))
    assert within_share(state, cast("Any", SimpleNamespace(blobs=blobs)), TOOK) == ("a", "b", "c")


def test_how_many_tests_were_looked_at_is_told_where_not_all_were() -> None:
    facts: dict[str, Any] = {"count": 3, "tests": ["t.py::a", "t.py::b", "t.py::c"], "nearest": []}
    whole = with_fields(before("green"), facts={"impact": facts})
    part = with_fields(whole, facts={"impact": {**facts, "looked_at": 40}})
    assert impact_text(whole).startswith("3 existing tests run the files that you change")
    assert impact_text(part).startswith("3 of the 40 nearest existing tests run the files that you change")


def test_a_test_that_takes_long_at_the_base_or_while_it_is_recorded_is_one_of_the_long() -> None:
    took = {"quick": 0.01, "warm": 0.01, "slow": 0.4, "sleeps": 9.0}
    state = with_fields(before("green"), evidence={"baseline": "d"})
    impact = {"nearest": ["warm"], "tests": list(took), "long": ["warm"]}
    state = with_fields(state, facts={"baseline": {"tests": 4, "duration_s": 9.5}, "impact": impact})
    blobs = SimpleNamespace(get=lambda _digest: canonical_bytes({"durations": took}))
    assert quick_and_long(state, cast("Any", SimpleNamespace(blobs=blobs))) == (("quick",), ("warm", "slow"))
