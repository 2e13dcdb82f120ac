"""kill -9 at moments that nothing but chance chooses; `make chaos` tries a thousand, here are a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.kills.random_kills import Place, golden, try_run

if TYPE_CHECKING:
    from pathlib import Path

_RUNS = (3, 4)


def test_a_run_killed_at_any_moment_is_resumed_to_the_same_end(chaos_place: Path, pycache: Path) -> None:
    place = Place(chaos_place, pycache=pycache)
    wanted = golden(place)
    tried = [try_run(number, seed=11, place=place, wanted=wanted) for number in _RUNS]
    assert sum(len(row["kills"]) for row in tried) >= len(_RUNS)
    assert [row for row in tried if row["problems"]] == []
