"""A fault at any change that a command makes on disk, by itself or by git; `python -m bench.faults` tries them all, here are some."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kills.every_change import SCENARIOS, Trial, points, tried
from tests.support.kills.faults import Mode

pytestmark = [
    pytest.mark.needs("cc"),
    pytest.mark.skipif(sys.platform != "linux", reason="the library that makes the faults needs Linux"),
]
_SAMPLED = {
    ("start", Mode.FULL), ("resume", Mode.KILLED), ("resolve", Mode.ONCE), ("worker", Mode.KILLED), ("mark", Mode.TORN),
    ("bundle", Mode.CHILD),
}  # fmt: skip
_ALL = [(name, mode) for name in sorted(SCENARIOS) for mode in SCENARIOS[name].modes]


@pytest.fixture(scope="module", params=sorted(SCENARIOS))
def trial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """The place of one scenario, whose changes are known."""
    with Trial(tmp_path_factory.mktemp("faults").resolve() / request.param, SCENARIOS[request.param]) as made:
        assert made.changes
        yield made


@pytest.mark.parametrize(
    ("trial", "mode"),
    [pytest.param(*pair, marks=[] if pair in _SAMPLED else [pytest.mark.chaos]) for pair in _ALL],
    indirect=["trial"],
)
def test_a_fault_at_a_change_loses_nothing(trial: Trial, mode: Mode) -> None:
    at, change = next((at, change) for _, at, change in points(trial, [mode], each=1))
    failures = [f"{change}: {told}" for told in tried(trial, mode, at)]
    assert failures == []


def test_a_ref_for_whose_folder_there_is_no_room_is_told_as_a_full_disk(tmp_path: Path) -> None:
    with Trial(tmp_path.resolve() / "trial", SCENARIOS["bundle"]) as trial:
        at = 1 + next(
            number for number, change in enumerate(trial.changes) if change == "mkdir repo/.git/refs/agentforge/bundles"
        )
        assert list(tried(trial, Mode.FULL, at)) == []
