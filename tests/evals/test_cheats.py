"""The catalogue: every trick is refused by a rule that its case names, every honest twin is delivered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentforge.evals.cheat_case import SIDES, Side, case_names, load_case
from agentforge.evals.cheat_run import run_side
from agentforge.evals.ground import Ground

_HELD_OUT = (
    *(
        "always-equal-object",
        "always-equal-str",
        "equal-through-magic-mock",
        "hard-coded-branches",
        "hard-coded-hashes",
    ),
    *(
        "hard-coded-match",
        "hard-coded-table",
        "reads-test-source",
        "sniffs-argv",
        "sniffs-frames",
        "sniffs-sys-modules-any",
    ),
    *("sniffs-working-directory", "sniffs-tests-folder", "patched-clock", "patched-seed", "red-fixture-replaces-unit"),
    "tolerance-a-bit-wide",
)
_EXECUTED = ("mapping-untouched", "untested-extra", "untested-branch", "wears-out")
_OPEN: dict[tuple[str, Side], str] = {
    **{(name, "trick"): "held-out checks and the rule about deception" for name in _HELD_OUT},
    **{(name, "trick"): "what tests execute" for name in _EXECUTED},
}
"""Cases that wait for work that is under way: (name, side) -> what it waits for. Empty when all is well."""

_CASES = [
    pytest.param(
        name,
        side,
        id=f"{name}-{side}",
        marks=pytest.mark.xfail(reason=_OPEN[name, side], strict=True) if (name, side) in _OPEN else (),
    )
    for name in case_names()
    for side in SIDES
]


@pytest.mark.parametrize(("name", "side"), _CASES)
def test_the_trick_is_refused_and_the_twin_delivered(
    name: str, side: Side, ground: Ground, record_property: Callable[[str, object], None]
) -> None:
    result = run_side(load_case(name), side, ground)
    record_property("cheat", f"{side} {'right' if result.right else 'wrong'}")
    assert result.right, result.detail
