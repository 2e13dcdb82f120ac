"""The record of a circumstance says all about it: who tries it, with which others it is tried first, and what differs."""

from __future__ import annotations

from agentforge.verification.effects.replay import SINGLE, Circumstance, together
from agentforge.verification.effects.replay_javascript import JAVASCRIPT


def test_variables_of_several_circumstances_stand_side_by_side() -> None:
    zone = Circumstance(name="in another time zone", changes={"variables": {"TZ": "Asia/Tokyo"}})
    decisive, told = together((*SINGLE, zone))
    assert decisive.changes["variables"] == {"PYTHONHASHSEED": "4242", "TZ": "Asia/Tokyo"}
    assert {"clock_s", "bare", "terminal"} == told.changes.keys()
    assert not told.changes.keys() & decisive.changes.keys()


def test_node_is_spared_what_only_python_has() -> None:
    names = {one.name for one in SINGLE} - {one.name for one in JAVASCRIPT.single}
    assert names == {"with another hash seed", "under python -O"}
