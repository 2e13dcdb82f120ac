"""How far a suite notices small wrong changes: what bounds the look, which mutants are chosen, and the score."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from agentforge.frozen import dataclass
from agentforge.languages.catalogue import of_path, of_runner
from agentforge.languages.language import Mutant
from agentforge.suite import Rig

COUNTED = ("killed", "timeout", "crashed")  # how a mutant ends that a test noticed
NOTHING_TO_MUTATE = "the changed lines hold nothing that can be mutated"
_TESTS_SHOWN = 5
_BRANCHES = ("branch", "dispatch")  # what no run shows by the lines that it executes


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationBounds:
    """How much is spent on mutants.

    Attributes:
        most: mutants; 0 switches them off.
        seconds: of CPU for all of them, and twice as many by the clock; what is left then is not run.
        seed: chooses them; recorded.
    """

    most: int = 20
    seconds: float = 60.0
    seed: int = 1


def mutants_of_change(rig: Rig, tree: str, changed: Mapping[str, int], base_tree: str = "") -> list[Mutant] | None:
    """Every mutant of the changed lines in files of the plan's language; None where nobody makes any of it.

    Args:
        changed: path -> changed lines as bits.
        base_tree: what stood in its lines already is left as it is; "" = whole lines are changed.
    """
    language = of_runner(rig.plan.runner)
    if language is None or language.mutants is None:
        return None
    found: list[Mutant] = []
    for path, lines in sorted(changed.items()):
        data = rig.git.show(tree, path) if of_path(path) is language else None
        before = rig.git.show(base_tree, path) if base_tree else None
        found += language.mutants(path, data, lines=lines, before=before) if data is not None else ()
    return found


def named_again(rig: Rig, tree: str, survivors: Sequence[Mapping[str, Any]]) -> tuple[list[Mutant], list[str]]:
    """The mutants that rows of a measurement name, made anew on a tree with the same product files, and their names."""
    wanted = {(row["path"], row["line"], row["before"], row["after"]): str(row["id"]) for row in survivors}
    lines: dict[str, int] = {}
    for row in survivors:
        lines[str(row["path"])] = lines.get(str(row["path"]), 0) | 1 << int(row["line"])
    made = [(one, (one.path, one.line, one.before, one.after)) for one in mutants_of_change(rig, tree, lines) or ()]
    found = [(one, wanted[key]) for one, key in made if key in wanted]
    return [one for one, _ in found], [name for _, name in found]


def score_of(
    chosen: Sequence[Mutant],
    tests: Sequence[Sequence[str]],
    statuses: Mapping[int, Mapping[str, Any]],
    *,
    note: str,
    cpu_s: float,
    possible: int,
    bounds: MutationBounds,
) -> dict[str, Any]:
    """The facts of a measurement; a mutant that no test executes survives without a run.

    Args:
        tests: for each chosen mutant the ids that are run against it.
        statuses: number of the mutant -> {status: killed, timeout, crashed, survived or not run}.
    """
    status = {
        number: "survived" if not tests[number] else str(statuses.get(number, {}).get("status", "not run"))
        for number in range(len(chosen))
    }
    killed = sum(1 for one in status.values() if one in COUNTED)
    living = sorted(
        (number for number, one in status.items() if one == "survived"),
        key=lambda number: (chosen[number].path, chosen[number].line, number),
    )
    run = killed + len(living)
    return {
        "measured": run > 0 and not (note and not killed),
        "note": note,
        "seed": bounds.seed,
        "possible": possible,
        "run": run,
        "killed": killed,
        "survived": len(living),
        "score": round(killed / run, 3) if run else None,
        "survivors": [_survivor(chosen[number], number, tests[number]) for number in living],
        "not_run": len(chosen) - run,
        "cpu_s": cpu_s,
    }


def with_noticed(told: Mapping[str, Any], noticed: Collection[str]) -> dict[str, Any]:
    """The facts when other tests notice some of the survivors.

    Args:
        noticed: ids of these.
    """
    left = [row for row in told["survivors"] if row["id"] not in noticed]
    killed = told["killed"] + len(told["survivors"]) - len(left)
    score = round(killed / told["run"], 3) if told["run"] else None
    return {**told, "killed": killed, "survived": len(left), "survivors": left, "score": score,
            "measured": told["run"] > 0 and not (told["note"] and not killed)}  # fmt: skip


def _survivor(mutant: Mutant, number: int, tests: Sequence[str]) -> dict[str, Any]:
    return {
        "id": f"M{number + 1}",
        "path": mutant.path,
        "line": mutant.line,
        "function": mutant.owner,
        "kind": mutant.kind,
        "before": mutant.before,
        "after": mutant.after,
        "tests": list(tests[:_TESTS_SHOWN]),
        "tests_run": len(tests),
    }


def nothing_run(note: str, bounds: MutationBounds) -> dict[str, Any]:
    """The facts where no mutant was run, and why."""
    return {
        "measured": False, "note": note, "seed": bounds.seed, "possible": 0, "run": 0, "killed": 0, "survived": 0,
        "score": None, "survivors": [], "not_run": 0, "cpu_s": 0.0,
    }  # fmt: skip


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
