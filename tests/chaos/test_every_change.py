"""A fault at any change that a command makes on disk, by itself or by git; `python -m bench.faults` tries them all, here are some."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.kills.every_change import SCENARIOS, Trial, points, tried
from tests.support.kills.faults import Mode

pytestmark = [
    pytest.mark.needs("cc"),
    pytest.mark.skipif(sys.platform != "linux", reason="the library that makes the faults needs Linux"),
]


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_fault_at_a_sample_of_the_changes_loses_nothing(name: str, tmp_path: Path) -> None:
    with Trial(tmp_path.resolve() / name, SCENARIOS[name]) as trial:
        found = points(trial, [mode for mode in Mode if mode], each=1)
        chosen = {mode: at for mode, at, _ in reversed(found)}
        failures = [f"{mode.name} {at}: {told}" for mode, at in chosen.items() for told in tried(trial, mode, at)]
    assert failures == []
