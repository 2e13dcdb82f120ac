"""The time of test programs that run one after the other within one limit."""

from __future__ import annotations

from dataclasses import dataclass

_LEAST_S = 1.0


@dataclass(slots=True, kw_only=True)
class RunningTime:
    """What is left of the limit of several runs of tests.

    Attributes:
        in_parts: a run gets half of what is left, so that one that loops for ever leaves time for those behind it.
    """

    left_s: float
    in_parts: bool = False

    @property
    def next_s(self) -> float:
        """The limit of the next run, at least a second."""
        return max(_LEAST_S, self.left_s / 2 if self.in_parts else self.left_s)

    @property
    def is_over(self) -> bool:
        """Whether what is left is too little for a run."""
        return self.left_s < _LEAST_S

    def spend(self, seconds: float) -> None:
        """Take what a run took."""
        self.left_s -= seconds
