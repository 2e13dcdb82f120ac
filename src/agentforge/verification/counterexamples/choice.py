"""Chooses a bounded number of mutants by a seed, spread over the changed functions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from agentforge.languages.mutant import Mutant

_BRANCHES = ("branch", "dispatch")  # what no run shows by the lines that it executes


def choose(mutants: Sequence[Mutant], *, seed: int, most: int) -> tuple[Mutant, ...]:
    """At most `most` of the mutants, the same for the same seed.

    Functions take turns, and within a function its lines do, so that no long line eats the number up. They come in the order
    in which they were drawn: when the time is over, what was run is a sample of the whole change.
    """
    chance = random.Random(seed)
    functions: dict[tuple[str, str], list[Mutant]] = {}
    for one in mutants:
        functions.setdefault((one.path, one.owner), []).append(one)
    queues = [_spread(functions[key], chance) for key in sorted(functions)]
    chance.shuffle(queues)
    return tuple(_in_turn(queues))[:most]


def _spread(mutants: list[Mutant], chance: random.Random) -> list[Mutant]:
    """The mutants of a function in a random order in which its lines take turns; of a line its branches come first."""
    lines: dict[int, list[Mutant]] = {}
    for one in mutants:
        lines.setdefault(one.line, []).append(one)
    queues = [
        sorted(chance.sample(ones, len(ones)), key=lambda one: one.kind not in _BRANCHES) for ones in lines.values()
    ]
    chance.shuffle(queues)
    return list(_in_turn(queues))


def _in_turn(queues: Sequence[Sequence[Mutant]]) -> Iterator[Mutant]:
    for number in range(max((len(queue) for queue in queues), default=0)):
        for queue in queues:
            if number < len(queue):
                yield queue[number]
