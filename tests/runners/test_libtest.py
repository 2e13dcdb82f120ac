"""What libtest's events say of a test, by the last of them."""

from __future__ import annotations

import json

from agentforge.languages.rust.runner import _outcomes


def _said(*events: dict[str, object]) -> dict[str, str]:
    lines = "\n".join(json.dumps({"type": "test", **event}) for event in events)
    found = _outcomes(lines, listed=["slow", "quick"], root="tests/a.rs", files={})
    return {one.id: one.outcome for one in found}


def test_a_test_that_runs_for_more_than_a_minute_and_passes_has_passed() -> None:
    told = _said(
        {"event": "started", "name": "slow"},
        {"event": "timeout", "name": "slow"},
        {"event": "ok", "name": "quick"},
        {"event": "ok", "name": "slow", "exec_time": 63.1},
    )
    assert told == {"tests/a.rs::slow": "passed", "tests/a.rs::quick": "passed"}


def test_what_a_test_prints_by_itself_takes_no_event_with_it() -> None:
    events = 'half a line { "type": "test", "event": "ok", "name": "quick" }\n'
    (found,) = _outcomes(events, listed=["quick"], root="tests/a.rs", files={})
    assert (found.id, found.outcome) == ("tests/a.rs::quick", "passed")


def test_a_test_that_was_ended_after_a_minute_has_no_outcome() -> None:
    assert _said({"event": "started", "name": "slow"}, {"event": "timeout", "name": "slow"}) == {}
