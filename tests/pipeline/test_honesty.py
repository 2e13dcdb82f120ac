"""What looks like a decision by circumstances refuses where a repeated call bears it out, and is a note elsewhere."""

from __future__ import annotations

import pytest

from agentforge.pipeline.honesty import borne_out

_LIE = {"path": "a.py", "line": 1, "text": "A.__eq__ does not look at what it compares with"}
_LOOK = {"path": "a.py", "line": 2, "text": "decides by the clock: x > y", "measurable": True}


@pytest.mark.parametrize("dependencies", [None, {"found": []}, {"found": [{"contradicts": False}]}, "?"])
def test_what_nothing_bears_out_is_a_note(dependencies):
    assert borne_out([_LIE, _LOOK], dependencies) == {"deceptions": [_LIE], "suspicions": [_LOOK]}


def test_a_contradicted_expectation_bears_it_out():
    assert borne_out([_LOOK], {"found": [{"contradicts": True}]}) == {"deceptions": [_LOOK], "suspicions": []}
