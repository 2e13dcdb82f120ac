"""The catalogue: every trick is refused by a rule that its case names, every honest twin is delivered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentforge.evals.corpus import SIDES, Side, case_names, load_case
from agentforge.evals.ground import EvalFixture
from agentforge.evals.side_run import run_side

_CASES = [pytest.param(name, side, id=f"{name}-{side}") for name in case_names() for side in SIDES]


@pytest.mark.parametrize(("name", "side"), _CASES)
def test_the_trick_is_refused_and_the_twin_delivered(
    name: str, side: Side, ground: EvalFixture, record_property: Callable[[str, object], None]
) -> None:
    case = load_case(name)
    if case.missing:
        pytest.skip(case.missing)
    result = run_side(case, side, ground)
    record_property("cheat", f"{side} {'right' if result.right else 'wrong'}")
    assert result.right, result.detail
