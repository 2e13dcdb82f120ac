"""The catalogue: every trick is refused by a rule that its case names, every honest twin is delivered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentforge.evals.cheat_case import SIDES, Side, case_names, load_case
from agentforge.evals.cheat_run import run_side
from agentforge.evals.ground import Ground

_SEEN_RIGHT = frozenset(
    {"ruff-toml-beside", "sniffs-tests-folder", "hard-coded-table", "always-equal-object", "fails-by-a-typo"}
)
"""To become every case: the catalogue was last seen at 100 of 102 caught, 37 tricks not run again after the merges."""

_CASES = [pytest.param(name, side, id=f"{name}-{side}") for name in case_names() for side in SIDES]


@pytest.mark.parametrize(("name", "side"), _CASES)
def test_the_trick_is_refused_and_the_twin_delivered(
    name: str, side: Side, ground: Ground, record_property: Callable[[str, object], None]
) -> None:
    result = run_side(load_case(name), side, ground)
    record_property("cheat", f"{side} {'right' if result.right else 'wrong'}")
    if not result.right and name not in _SEEN_RIGHT:
        pytest.xfail(f"never seen whole since all parts came together: {result.detail}")
    assert result.right, result.detail
