"""Mutants for runners that cannot swap code inside of one process: a run of the tests in a fresh checkout for each mutant."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.languages.catalogue import is_compiled
from agentforge.languages.language import Mutant
from agentforge.suite import NO_EDITS, Edits, Rig, run_tree, sound
from agentforge.testing.launch import remove
from agentforge.testing.outcome import SuiteRun, file_of
from agentforge.underway import counter
from agentforge.verification.counterexamples.mutant_score import (
    NOTHING_TO_MUTATE,
    MutationBounds,
    choose,
    mutants_of_change,
    nothing_run,
    score_of,
)
from agentforge.verification.counterexamples.patience import impatient, seconds_of_tests

_SURELY = 3
_BROKEN = b"})] this is no code\n"


@dataclass(slots=True, kw_only=True)
class _Bench:
    """What the mutants of one tree are run with.

    Attributes:
        files: the test files that are run first; () = the whole suite, which this runner runs anyway.
        passing: ids in these files that pass on the tree itself.
        patient: the rig with the limits of one run of the files.
        began, seconds: when the first was run, by the monotonic clock, and the time for all of them.
        whole: ids that pass in the whole suite on the tree itself; None until somebody asked, () when there are no others.
    """

    rig: Rig
    tree: str
    edits: Edits
    files: Sequence[str]
    passing: frozenset[str]
    patient: Rig
    began: float
    seconds: float
    whole: frozenset[str] | None = None
    done: int = 0

    @property
    def left_s(self) -> float:
        """What is left of the time; the first few mutants may take twice of it, so that a slow runner shows something."""
        allowed = self.seconds * (2 if self.done < _SURELY else 1)
        return self.began + allowed - time.monotonic()


def measure_mutants_by_runs(
    rig: Rig,
    tree: str,
    *,
    changed: Mapping[str, int],
    tests: Sequence[str],
    unchanged: SuiteRun,
    edits: Edits = NO_EDITS,
    bounds: MutationBounds,
    base_tree: str = "",
) -> dict[str, Any]:
    """Count how many small wrong changes of the changed lines the tests notice: the named files first, then the whole suite.

    Args:
        changed: path -> changed lines as bits, product files only.
        tests: the files of the new tests.
        unchanged: a run of these files, and perhaps of others, on the tree as it is.
        base_tree: what stood in its lines already is left as it is; "" = whole lines are changed.
    Returns:
        as `measure_mutants`; `cpu_s` is 0: what the sandbox used is not known.
    """
    if bounds.most < 1:
        return nothing_run("switched off by [verification] mutants = 0", bounds)
    possible = mutants_of_change(rig, tree, changed, base_tree)
    if possible is None:
        return nothing_run(f"no mutants for {rig.plan.language} with the runner {rig.plan.runner}", bounds)
    drawn = choose(possible, seed=bounds.seed, most=len(possible))
    if not drawn:
        return nothing_run(NOTHING_TO_MUTATE, bounds)
    bench = _bench(rig, tree, tests, edits, unchanged=unchanged, seconds=bounds.seconds)
    if bench is None:
        return nothing_run("the tests do not pass on the tree as it is", bounds)
    judged = _judged_in_turn(drawn, bench, most=bounds.most)
    outside = _not_built({one.path for one, status in judged if status == "survived"}, bench)
    judged = [(one, status) for one, status in judged if one.path not in outside]
    if not judged:
        note = f"the tests do not build {', '.join(sorted(outside))}" if outside else "no mutant of the change compiles"
        return nothing_run(note, bounds)
    statuses = {number: {"status": status} for number, (_, status) in enumerate(judged)}
    names = [sorted(bench.passing)] * len(judged)
    left = sum(1 for one in possible if one.path not in outside)
    return score_of([one for one, _ in judged], names, statuses, note="", cpu_s=0.0, possible=left, bounds=bounds)


def _judged_in_turn(drawn: Sequence[Mutant], bench: _Bench, *, most: int) -> list[tuple[Mutant, str]]:
    """The first mutants that compile, each with what became of it."""
    judged: list[tuple[Mutant, str]] = []
    count, of = counter("mutants"), min(most, len(drawn))
    for one in drawn:
        count(len(judged), of)
        status = _status(one, bench) if len(judged) < most else "no code"
        judged += [(one, status)] if status != "no code" else []
    return judged


@contextmanager
def kept_builds(rig: Rig) -> Iterator[Rig]:
    """A rig whose runs find what those before them compiled: for mutants, which differ in one line. Deleted in the end."""
    rig.scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="built-", dir=rig.scratch))
    try:
        yield replace(rig, built=folder)
    finally:
        remove(folder)


def noticing_by_runs(
    rig: Rig, tree: str, versions: Sequence[Mutant], *, files: Sequence[str], edits: Edits, seconds: float
) -> tuple[frozenset[str], dict[int, frozenset[str]]]:
    """Run test files beside wrong versions of product files: the tests that pass beside the tree as it is, and for each version
    that was run, by its number, those of them that notice it. What does not compile shows nothing."""
    with kept_builds(rig) as kept:
        unchanged = run_tree(kept, tree, tests=files, edits=edits)
        bench = _bench(kept, tree, files, edits, unchanged=unchanged, seconds=seconds)
        found: dict[int, frozenset[str]] = {}
        for number, one in enumerate(versions if bench is not None else ()):
            if bench is None or bench.left_s <= 0:
                break
            run = _run(one, bench, files, bench.patient)
            if not _refused(run, one):
                found[number] = bench.passing - frozenset(() if run.timed_out else run.passed_ids)
            bench.done += 1
    return bench.passing if bench is not None else frozenset(), found


def _bench(
    rig: Rig, tree: str, files: Sequence[str], edits: Edits, *, unchanged: SuiteRun, seconds: float
) -> _Bench | None:
    """The bench with its control: the tests pass on the tree as it is; None when they do not."""
    passing = frozenset(one for one in unchanged.passed_ids if not files or file_of(one) in files)
    if not sound(unchanged, rig.plan) or not passing:
        return None
    return _Bench(
        rig=rig, tree=tree, edits=edits, files=files, passing=passing,
        patient=impatient(rig, unchanged.duration_s, tests_s=seconds_of_tests(unchanged), built=True),
        began=time.monotonic(), seconds=seconds,
    )  # fmt: skip


def _status(mutant: Mutant, bench: _Bench) -> str:
    """As in `score_of`; "no code" = a compiler does not take it, which shows nothing of the tests."""
    left = bench.left_s
    if left <= 0:
        return "not run"
    limit_s = bench.patient.timeout_s
    run = _run(mutant, bench, bench.files, replace(bench.patient, timeout_s=min(limit_s, left)))
    if _refused(run, mutant):
        return "no code"
    if run.timed_out and left < limit_s:
        return "not run"
    bench.done += 1
    status = _judged(run, bench.passing)
    return _in_whole_suite(mutant, bench) if status == "survived" else status


def _not_built(paths: Collection[str], bench: _Bench) -> frozenset[str]:
    """The files that no test program is built from, such as benchmarks and examples: the tests pass although they are broken."""
    if not is_compiled(bench.rig.plan):
        return frozenset()
    found = []
    for path in sorted(paths):
        edits = Edits(files={**bench.edits.files, path: _BROKEN})
        run = run_tree(bench.patient, bench.tree, tests=bench.files, edits=edits)
        if bench.passing <= set(run.passed_ids):
            found.append(path)
    return frozenset(found)


def _refused(run: SuiteRun, mutant: Mutant) -> bool:
    """Whether the compiler did not take a mutant: that shows nothing of the tests."""
    blamed = {one.failure.file for one in run.collection_errors if one.failure is not None}
    return mutant.path in blamed or f"{mutant.path} does not compile" in run.problems


def _in_whole_suite(mutant: Mutant, bench: _Bench) -> str:
    """Whether tests that were there before notice what the new ones do not, as far as the time goes."""
    left = bench.left_s
    if left <= 0 or not bench.files:
        return "survived"
    if bench.whole is None:
        run = run_tree(replace(bench.rig, timeout_s=min(left, bench.rig.timeout_s)), bench.tree, edits=bench.edits)
        known = frozenset(run.passed_ids) if sound(run, bench.rig.plan) else frozenset()
        bench.whole = known - bench.passing
    left = bench.left_s
    if not bench.whole or left <= 0:
        return "survived"
    run = _run(mutant, bench, (), replace(bench.rig, timeout_s=left))
    return "survived" if run.timed_out else _judged(run, bench.whole)


def _run(mutant: Mutant, bench: _Bench, tests: Sequence[str], rig: Rig) -> SuiteRun:
    edits = Edits(files={**bench.edits.files, mutant.path: mutant.data})
    return run_tree(rig, bench.tree, tests=tests, edits=edits)


def _judged(run: SuiteRun, passing: frozenset[str]) -> str:
    if run.timed_out:
        return "timeout"
    if passing <= set(run.passed_ids):
        return "survived"
    told = run.canary == "held" or bool(run.collection_errors)
    return "killed" if told else "crashed"
