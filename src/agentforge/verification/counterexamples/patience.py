"""How long tests may take against code that is wrong on purpose: it may loop for ever, and then no test has passed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from agentforge.languages.catalogue import is_compiled
from agentforge.suite import Rig
from agentforge.testing.outcome import SuiteRun

_LEAST_S, _FACTOR = 10.0, 5.0
_BUILD_S = 120.0  # what does not compile at the base is built for the first time with a wrong implementation
_TIMES = 2.0


def impatient(rig: Rig, usual_s: float, *, tests_s: float | None = None, built: bool = False) -> Rig:
    """A rig for wrong implementations: it waits not much longer than the tests usually take.

    Args:
        usual_s: how long a run of these tests takes, with building.
        tests_s: how long the tests themselves take in it; None = all of that.
        built: such a run has built everything before.
    """
    least = _BUILD_S if is_compiled(rig.plan) and not built else _LEAST_S
    limit = min(rig.timeout_s, least + _FACTOR * usual_s)
    tests = _LEAST_S + _FACTOR * (usual_s if tests_s is None else min(tests_s, usual_s))
    return replace(rig, timeout_s=limit, tests_s=min(limit, tests))


def seconds_of_tests(run: SuiteRun) -> float:
    """How long the tests of a run took, without building; too much where they ran beside each other."""
    return sum(one.duration_s for one in run.outcomes.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The time for several wrong implementations of one change.

    Attributes:
        rig: with the limits of one run.
        ends: when the time for all of them is over, by the monotonic clock.
    """

    rig: Rig
    ends: float

    @classmethod
    def after(cls, rig: Rig, run: SuiteRun) -> Patience:
        """The patience for what a run shows of the same tests: together they may take as long as two of them may alone."""
        limited = impatient(rig, run.duration_s, tests_s=seconds_of_tests(run))
        return cls(rig=limited, ends=time.monotonic() + _TIMES * limited.timeout_s)

    @property
    def left_s(self) -> float:
        """What is left for all of them."""
        return self.ends - time.monotonic()

    @property
    def shortened(self) -> Rig | None:
        """A rig for what is left of the time; None where nothing is."""
        left = self.left_s
        return replace(self.rig, timeout_s=min(self.rig.timeout_s, left)) if left > 0 else None
