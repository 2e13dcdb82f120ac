"""The mutation score of a tree: mutants of its changed lines, each run against the tests that execute its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.canonical import digest_bytes
from agentforge.languages.language import Mutant
from agentforge.languages.python.runner import run_mutants
from agentforge.suite import NO_EDITS, Edits, Rig, fresh_checkout
from agentforge.testing.coverage import Traced
from agentforge.testing.launch import ground
from agentforge.testing.outcome import file_of
from agentforge.testing.plan import plan_digest
from agentforge.verification.counterexamples.mutant_score import (
    COUNTED,
    NOTHING_TO_MUTATE,
    MutationBounds,
    choose,
    mutants_of_change,
    named_again,
    nothing_run,
    score_of,
)
from agentforge.verification.counterexamples.mutants_by_runs import noticing_by_runs

_VERSION = 1
_TESTS_EACH = 200
_FIRST_RUN_S = 60.0


def measure_mutants(
    rig: Rig,
    tree: str,
    *,
    changed: Mapping[str, int],
    traced: Traced,
    passing: Sequence[str],
    edits: Edits = NO_EDITS,
    bounds: MutationBounds,
    base_tree: str = "",
) -> dict[str, Any]:
    """Count how many small wrong changes of the changed lines the tests notice.

    Args:
        changed: path -> changed lines as bits, product files only.
        traced: what the tests executed on this very tree.
        passing: tests that pass on it, those that are run first where a line has too many; others show nothing.
        base_tree: what stood in its lines already is left as it is; "" = whole lines are changed.
    Returns:
        {measured, note, seed, possible, run, killed, survived, score, survivors: [{id, path, line, function, kind, before,
        after, tests}], not_run, cpu_s}; `score` is None when nothing was run.
    """
    reason = _not_possible(rig, traced, bounds)
    if reason:
        return nothing_run(reason, bounds)
    rank = {name: number for number, name in enumerate(passing)}
    possible = mutants_of_change(rig, tree, changed, base_tree) or []
    chosen = choose(possible, seed=bounds.seed, most=bounds.most)
    if not chosen:
        return nothing_run(NOTHING_TO_MUTATE, bounds)
    ran = [[name for name in _tests_of(one, traced) if name in rank] for one in chosen]
    tests = [sorted(names, key=lambda name: rank[name])[:_TESTS_EACH] for names in ran]
    records = _records(rig, tree, chosen, tests, edits=edits, bounds=bounds)
    statuses, note = _read(records, chosen) if records else ({}, "")
    cpu_s = next((float(one["cpu_s"]) for one in records if one["kind"] == "spent"), 0.0)
    return score_of(chosen, tests, statuses, note=note, cpu_s=cpu_s, possible=len(possible), bounds=bounds)


def killed_by(
    rig: Rig,
    tree: str,
    survivors: Sequence[Mapping[str, Any]],
    *,
    tests: Sequence[str],
    edits: Edits = NO_EDITS,
    seconds: float = 2 * _FIRST_RUN_S,
) -> dict[str, list[str]]:
    """Run tests against mutants that survived others.

    Args:
        survivors: rows of `measure_mutants`, of a tree with the same product files.
        tests: ids that pass on the tree.
        seconds: for all of them.
    Returns:
        the mutant's id -> ids of the tests that notice it.
    """
    versions, names = named_again(rig, tree, survivors)
    if not versions or not tests:
        return {}
    if rig.plan.language == "python":
        bounds = MutationBounds(seconds=seconds)
        noticed = noticing(rig, tree, versions, [tests] * len(versions), edits=edits, bounds=bounds) or {}
    else:
        files = tuple(dict.fromkeys(map(file_of, tests)))
        _, noticed = noticing_by_runs(rig, tree, versions, files=files, edits=edits, seconds=seconds)
    found = {names[number]: sorted(ids & set(tests)) for number, ids in noticed.items()}
    return {name: ids for name, ids in found.items() if ids}


def noticing(
    rig: Rig,
    tree: str,
    versions: Sequence[Mutant],
    tests: Sequence[Sequence[str]],
    *,
    edits: Edits,
    bounds: MutationBounds,
) -> dict[int, frozenset[str]] | None:
    """Run wrong versions of files and tell for each, by its number, which of its own tests notice it.

    Args:
        tests: for each version the ids that are run against it, which pass on the tree as it is; a version without is not run.
    Returns:
        the versions that were run; None where the tests do not pass beside them although nothing is wrong.
    """
    records = _records(rig, tree, versions, tests, edits=edits, bounds=bounds, every=True)
    statuses, note = _read(records, versions) if records else ({}, "")
    if note and not statuses:
        return None
    return {
        number: frozenset(map(str, one.get("all") or tests[number])) if one["status"] in COUNTED else frozenset()
        for number, one in statuses.items()
        if one["status"] != "not run"
    }


def _not_possible(rig: Rig, traced: Traced, bounds: MutationBounds) -> str:
    if bounds.most < 1:
        return "switched off by [verification] mutants = 0"
    if rig.plan.runner not in ("pytest", "unittest"):
        return f"no mutants for {rig.plan.language} with the runner {rig.plan.runner}"
    return "" if traced.measured else f"it is not known what each test executes: {traced.note}"


def _tests_of(mutant: Mutant, traced: Traced) -> tuple[str, ...]:
    """Tests that execute one of its lines; what is executed while modules are imported concerns every test of the file."""
    lines = ((1 << (mutant.last - mutant.line + 1)) - 1) << mutant.line
    direct = traced.executing(mutant.path, lines)
    imported = traced.tests.get("", {}).get(mutant.path, 0) & lines
    return tuple(dict.fromkeys([*direct, *traced.executing(mutant.path, -1)])) if imported else direct


def _records(
    rig: Rig,
    tree: str,
    chosen: Sequence[Mutant],
    tests: Sequence[Sequence[str]],
    *,
    edits: Edits,
    bounds: MutationBounds,
    every: bool = False,
) -> list[dict[str, Any]]:
    """What the server says of the mutants that some test executes; [] when no test executes any.

    Args:
        every: run all tests of a mutant, not only those before the first that notices it.
    """
    numbers = [number for number in range(len(chosen)) if tests[number]]
    if not numbers:
        return []
    rows = [
        {
            "number": number, "path": chosen[number].path, "data": chosen[number].data.hex(),
            "tests": list(tests[number]), "every": every,
        }
        for number in numbers
    ]  # fmt: skip
    asked = sorted({name for number in numbers for name in tests[number]})
    key: dict[str, object] = {
        "mutants": [[chosen[number].path, digest_bytes(chosen[number].data), list(tests[number])] for number in numbers],
        "version": _VERSION, "tree": tree, "plan": plan_digest(rig.plan), "edits": edits.digest,
        "sandbox": rig.sandbox.kind, "at": str(rig.mount_at), **({"every": True} if every else {}),
    }  # fmt: skip
    known = rig.cache.recall(key) if rig.cache is not None else None
    records: list[dict[str, Any]] = known["records"] if known is not None else []
    if known is None:
        plan = {"rows": rows, "tests": asked, "budget_s": bounds.seconds, "limit_s": _FIRST_RUN_S}
        records = _served(rig, tree, plan, edits=edits, timeout_s=2 * bounds.seconds + 2 * _FIRST_RUN_S)
        if rig.cache is not None and _whole(records, len(rows)):
            rig.cache.keep(key, {"records": records})
    return list(records)


def _served(rig: Rig, tree: str, plan: Mapping[str, Any], *, edits: Edits, timeout_s: float) -> list[dict[str, Any]]:
    """Start the server on a fresh checkout."""
    with fresh_checkout(rig, tree) as checkout:
        edits.apply(checkout)
        with ground(checkout=checkout, mount_at=rig.mount_at, sandbox=rig.sandbox, scratch=rig.scratch) as place:
            return list(run_mutants(rig.plan, place, plan, timeout_s=timeout_s))


def _whole(records: Sequence[Mapping[str, Any]], rows: int) -> bool:
    done = [one for one in records if one["kind"] == "mutant" and one["status"] != "not run"]
    return len(done) == rows and any(one["kind"] == "finished" for one in records)


def _read(records: Sequence[Mapping[str, Any]], chosen: Sequence[Mutant]) -> tuple[dict[int, dict[str, Any]], str]:
    first = next((one for one in records if one["kind"] == "unchanged"), None)
    if first is None:
        return {}, f"the mutation server did not answer: {_early(records)}"
    if first["status"] != "survived":
        return {}, f"the tests do not pass in the mutation server ({first['status']} {first['by']})"
    lost = {str(one["path"]) for one in records if one["kind"] == "control" and not one["held"]}
    statuses = {
        int(one["number"]): dict(one)
        for one in records
        if one["kind"] == "mutant" and chosen[int(one["number"])].path not in lost
    }
    note = f"the tests do not load {', '.join(sorted(lost))} from the checkout" if lost else ""
    early = _early(records)
    return statuses, note or (f"the mutation server ended early: {early}" if early else "")


def _early(records: Sequence[Mapping[str, Any]]) -> str:
    return next((str(one["text"]) for one in records if one["kind"] == "early"), "")
