"""Real workers over a real queue: killed, frozen and stopped at random moments; everything is delivered, nothing twice."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def fleet() -> ModuleType:
    """The measurement script."""
    path = Path(__file__).parents[2] / "bench" / "fleet.py"
    spec = importlib.util.spec_from_file_location("agentforge_bench_fleet", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agentforge_bench_fleet"] = module
    spec.loader.exec_module(module)
    return module


def test_workers_that_are_killed_deliver_everything_once(fleet: ModuleType, tmp_path: Path) -> None:
    found = fleet.run_fleet(tmp_path, tasks=12, workers=2, kill_every_s=3.0, kills=4, lease_s=3.0, deadline_s=300.0)
    assert (found.delivered, found.branches, found.delivered_twice) == (12, 12, 0)
    assert (found.kills, found.freezes) == (3, 1)
    assert found.worst_repeated <= 0  # at most one model call for each time that a task was taken over


def test_the_same_on_postgresql(fleet: ModuleType, tmp_path: Path) -> None:
    try:
        with fleet.postgres() as url:
            found = fleet.run_fleet(tmp_path, tasks=3, workers=2, url=url, kill_every_s=4.0, kills=1, lease_s=3.0)
    except fleet.NoPostgres as exc:
        pytest.skip(str(exc))
    assert (found.delivered, found.branches, found.delivered_twice, found.database) == (3, 3, 0, "PostgreSQL")
