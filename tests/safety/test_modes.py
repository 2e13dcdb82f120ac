"""Proves safety/modes.py: six tables, all of them different."""

from __future__ import annotations

from itertools import combinations

import pytest

from agentforge.safety.policy.modes import MODE_MEANING, TABLE, Consent, Mode, strictest
from agentforge.safety.shell.programs.classes import MEANING, CommandClass


def test_every_mode_has_an_answer_for_every_class() -> None:
    assert set(TABLE) == set(Mode) == set(MODE_MEANING)
    assert all(set(row) == set(CommandClass) == set(MEANING) for row in TABLE.values())


@pytest.mark.parametrize(("one", "other"), list(combinations(Mode, 2)))
def test_no_two_modes_are_the_same(one: Mode, other: Mode) -> None:
    assert TABLE[one] != TABLE[other]


def test_never_asks_nothing_and_lets_nothing_pass_but_reading() -> None:
    row = TABLE[Mode.NEVER]
    assert Consent.ASK not in row.values()
    assert {kind for kind, verdict in row.items() if verdict is Consent.ALLOW} == {
        CommandClass.READ_ONLY,
        CommandClass.GIT_READ,
    }


def test_reading_passes_and_only_yolo_destroys_unasked() -> None:
    assert all(TABLE[mode][CommandClass.READ_ONLY] is Consent.ALLOW for mode in Mode)
    assert [mode for mode in Mode if TABLE[mode][CommandClass.DESTRUCTIVE] is Consent.ALLOW] == [Mode.YOLO]


def test_the_strictest_verdict_wins() -> None:
    assert strictest() is Consent.ALLOW
    assert strictest(Consent.ALLOW, Consent.DENY, Consent.ASK) is Consent.DENY
