"""Makes the mutants of changed lines and chooses a bounded number of them by a seed, spread over the changed functions."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence

from agentforge.languages.mutant import Mutant, short
from agentforge.verification.mutation.operators import OPERATORS, Change
from agentforge.verification.mutation.source import MutatedSource, MutationPlace, places

_BRANCHES = ("branch", "dispatch")  # what no run shows by the lines that it executes


def mutants_of(path: str, data: bytes, *, lines: int) -> tuple[Mutant, ...]:
    """Every mutant of the changed lines of a Python file, in order; () for a file that cannot be parsed.

    Args:
        lines: a bit for each changed line.
    """
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return ()
    source, seen, found = MutatedSource(data), {data}, []
    for place in places(tree):
        for kind, change in _changes(place, source):
            first = getattr(change[0], "lineno", 0)
            if not lines >> first & 1:
                continue
            made = source.replaced(*change)
            if made not in seen and _compiles(made):
                seen.add(made)
                found.append(_mutant(path, place, kind, change, source=source, made=made))
    return tuple(sorted(found, key=lambda one: one.line))


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


def _changes(place: MutationPlace, source: MutatedSource) -> Iterator[tuple[str, Change]]:
    for operator in OPERATORS:
        for change in operator(place, source):
            yield operator.__name__, change


def _mutant(
    path: str, place: MutationPlace, kind: str, change: Change, *, source: MutatedSource, made: bytes
) -> Mutant:
    node, text = change
    line, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]  # operators replace placed nodes
    before, after = short(source.text(node)), short(text)
    return Mutant(path=path, line=line, last=last, kind=kind, owner=place.owner, before=before, after=after, data=made)


def _compiles(data: bytes) -> bool:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


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
