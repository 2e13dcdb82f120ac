"""GREEN's facts about how much its tests show: executed lines of each requirement, untested code, mutants, refitted tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import cast

from agentforge.contracts.inspection import by_measurement_alone
from agentforge.events.state.run_state import RunState
from agentforge.languages.test_parts import lines_of_tests, may_hold_tests
from agentforge.pipeline.facts.early_facts import changed_lines
from agentforge.pipeline.facts.impact import quick_and_long, within_share
from agentforge.pipeline.facts.source_findings import words_of_people
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.model.revisits import returns_left
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import product_symbols
from agentforge.pipeline.model.stage import Json, action_of, items, texts
from agentforge.suite import Edits
from agentforge.testing.coverage import bits_of
from agentforge.testing.outcome import file_of
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.refits.comparison import Refits, told_of_refits
from agentforge.verification.refits.measurement import measure_refits
from agentforge.verification.source.test_hashes import FrozenTests
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.product_files import product_files
from agentforge.verification.stages.strength import measure_strength

STRENGTH_VERSION = 2
"""Of what is measured here: from 2 on a delivery tells in one line what is untested; earlier reports stay as they were."""
_MUTANTS_LEAST_S = 3.0
_FEW_MUTANTS = 5
"""Of fewer, one that changes nothing visible already makes a score below the usual threshold."""
_CLEAN = ("out_of_scope", "config_changed", "frozen_changed", "symbols_unmet")
_PROSE = (".md", ".rst", ".adoc")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GONE = "is gone; it fails on the tree as the base has it, and no other case of its test took its place"


def strength(
    state: RunState, runtime: Runtime, facts: Json, *, tree: str
) -> tuple[dict[str, object], dict[str, object]]:
    """Measure the strength of the tests on a tree that they pass.

    Args:
        facts: of GREEN so far; for a tree that is refused anyway nothing more is measured.
    Returns:
        facts {coverage, mutation, weak_tests, strength_version}, with belongs_to rows for RED where the tests of a requirement
        do not reach what was changed for it, and evidence {executed, calls}; see measure_strength.
    """
    good = facts.get("all_tests_pass") is True and facts.get("no_regressions") is True
    if not good or any(facts.get(name) for name in _CLEAN):
        note = "not measured: the tree is refused for other reasons"
        unknown = {"measured": False, "note": note}
        return {"coverage": unknown, "mutation": unknown, "strength_version": STRENGTH_VERSION}, {}

    measured, evidence = measure_strength(
        bounded_rig(state, runtime),
        _change(state, runtime, facts, tree=tree),
        base_tree=state.work.trees["baseline"],
        red_tree=state.work.trees.get("red", state.work.trees["baseline"]),
        tree=tree,
        bounds=mutation_bounds(state, runtime),
    )
    apart = reaching_nothing(cast("Json", measured["coverage"]))
    judged = {**_judgeable(state, runtime, measured), **({"belongs_to": apart} if apart else {})}
    return {**measured, **judged, "strength_version": STRENGTH_VERSION}, evidence


def mutation_bounds(state: RunState, runtime: Runtime) -> MutationBounds:
    """What may be spent on mutants of one tree."""
    suite_s = cast("float", state.work.facts.get("baseline", {}).get("duration_s") or 0.0)
    share = _setting(runtime, "mutants_share", 0.25) * suite_s + _MUTANTS_LEAST_S
    return MutationBounds(
        most=int(_setting(runtime, "mutants", 20)),
        seconds=min(_setting(runtime, "mutants_s", 60), share),
        seed=_seed(state),
    )


def reaching_nothing(coverage: Json) -> list[dict[str, object]]:
    """The requirements whose tests reach nothing of what was changed for them: the tests are frozen, so RED corrects them."""
    rows: list[dict[str, object]] = []
    for row in items(coverage.get("requirements")):
        ids = [str(one.get("id")) for one in items(row.get("tests"))]
        if row.get("touches") is not True and ids:
            told = f"the tests of {row.get('id')} execute nothing of what was changed for it: {', '.join(ids[:5])}"
            rows.append(
                {
                    "stage": "red", "rule": "mapping-executed", "path": ids[0].partition("::")[0],
                    "message": f"{told}; let one of them call what it names, or map the requirement to a test that does",
                }
            )  # fmt: skip
    return rows


def _seed(state: RunState) -> int:
    """Drawn from the frozen tests, which therefore cannot know it; the same again when the tree is measured with more tests."""
    mutation = state.work.facts.get("green", {}).get("mutation")
    known = mutation.get("seed") if isinstance(mutation, Mapping) else None
    return known if isinstance(known, int) else int(state.work.trees.get("red", state.work.trees["baseline"])[:8], 16)


def _setting(runtime: Runtime, name: str, default: float) -> float:
    value = runtime.verification.get(name, default)
    return float(value) if isinstance(value, (int, float)) else default


def _change(state: RunState, runtime: Runtime, facts: Json, *, tree: str) -> Change:
    base, spec, red = (
        state.work.trees["baseline"],
        state.work.artifacts.get("spec", {}),
        state.work.facts.get("red", {}),
    )
    own = texts(facts.get("test_files"))
    changes = [one for one in runtime.git.changed(base, tree) if one.path not in own]
    paths = product_files(runtime.git, tree, [one.path for one in changes], roots=runtime.rig().plan.roots)
    product = [one for one in changes if one.path in paths]
    ranges = {path: bits_of(one) for path, one in changed_lines(runtime.git.diff(base, tree)).items() if path in paths}
    inner = {path: lines_of_tests(path, runtime.git.show(tree, path) or b"") for path in ranges if may_hold_tests(path)}
    lines = {path: left for path, bits in ranges.items() if (left := bits & ~inner.get(path, 0))}
    gone = {str(one.get("file")) for one in product_symbols(spec) if one.get("change") == "removed"}
    quick, long = quick_and_long(state, runtime)
    mapping = state.work.artifacts.get("red", {}).get("coverage_mapping")
    return Change(
        lines={path: bits for path, bits in lines.items() if path.endswith(".py")},
        elsewhere={path: bits for path, bits in lines.items() if not path.endswith(".py")},
        shrunk=frozenset({one.path for one in product if one.path not in lines} | gone),
        other=tuple(one.path for one in product if not one.path.endswith(".py") and not _is_prose(one.path)),
        deleted=tuple(one.path for one in product if one.status == "deleted"),
        action="refactor" if by_measurement_alone(spec, state.work.artifacts.get("intake", {})) else action_of(state),
        requirements={str(key): texts(value) for key, value in mapping.items()} if isinstance(mapping, Mapping) else {},
        named=_named(spec),
        declared=frozenset(str(one.get("name", "")).split("(")[0] for one in product_symbols(spec)),
        tests=items(red.get("tests")),
        frozen=FrozenTests(files=cast("Mapping[str, str]", red.get("frozen_files") or {})).whole,
        impacted=quick,
        impacted_long=long,
        traced_at_base=state.work.facts.get("impact", {}).get("method") == "coverage",
    )


def _is_prose(path: str) -> bool:
    name = PurePosixPath(path)
    return name.suffix.lower() in _PROSE or name.parts[0] == "docs" or name.stem.upper() in ("LICENSE", "CHANGELOG")


def _named(spec: Json) -> dict[str, list[tuple[str, str]]]:
    """Requirement -> the declared functions and methods that its text names."""
    rows = [one for one in product_symbols(spec) if one.get("kind") in ("function", "method")]
    living = [one for one in rows if one.get("change") != "removed"]
    out: dict[str, list[tuple[str, str]]] = {}
    for item in items(spec.get("requirements")):
        words = set(
            _WORD.findall(" ".join([str(item.get("description", "")), *texts(item.get("acceptance_criteria"))]))
        )
        found = [(str(one.get("file", "")), str(one.get("name", "")).split("(")[0].strip()) for one in living]
        out[str(item.get("id", ""))] = [row for row in found if row[1].rpartition(".")[2] in words]
    return out


def _judgeable(state: RunState, runtime: Runtime, measured: Json) -> dict[str, object]:
    """What the rules and the road back to RED look at: thresholds beside the numbers."""
    coverage = cast("Json", measured["coverage"])
    mutation = cast("dict[str, object]", measured["mutation"])
    least = _setting(runtime, "mutation_score", 0.8)
    returns = int(_setting(runtime, "returns", 1))
    allowed = int(_setting(runtime, "untested", 0))
    untested = [row for row in items(coverage.get("untested")) if not row.get("inert")]
    count = sum(cast("int", row.get("statements", 0)) for row in untested)
    score = mutation.get("score")
    weak = isinstance(score, (int, float)) and score < least and not by_one_alone(mutation)
    findings = [_survivor(row) for row in items(mutation.get("survivors")) if not _answered(state, row)] if weak else []
    extra = any(row.get("extra") for row in untested)
    if count > allowed and not extra and coverage.get("blind") is not True:
        findings += [_untested(row) for row in untested]
    ask = runtime.verification.get("survivors") == "ask"
    return {
        "coverage": {**coverage, "untested_allowed": allowed, "returns_left": returns_left(state, returns)},
        "mutation": {**mutation, "least": least},
        "weak_tests": {"findings": findings, "returns": returns, "ask": ask and weak},
    }


def by_one_alone(mutation: Json) -> bool:
    """Whether a single survivor makes the score of very few mutants: it is listed, but so few show no weak suite."""
    run, survived = int(str(mutation.get("run") or 0)), len(items(mutation.get("survivors")))
    return survived == 1 < run < _FEW_MUTANTS


def _answered(state: RunState, row: Json) -> bool:
    """RED has answered before that this mutant changes nothing that can be seen."""
    given = items(state.work.artifacts.get("red", {}).get("equivalent_mutants"))
    return any(one.get("mutant") == mutant_text(row) for one in given)


def _survivor(row: Json) -> dict[str, object]:
    ran = f"{row.get('tests_run')} tests ran it and passed" if row.get("tests_run") else "no test runs it"
    message = f"{row.get('id')}: the tests do not notice {mutant_text(row)} ({ran})"
    return {**row, "rule": "survivor", "passed": False, "message": message}


def _untested(row: Json) -> dict[str, object]:
    place = f"{row.get('path')}:{row.get('lines')}"
    message = f"no test executes {place}" + (f" in {row.get('function')}" if row.get("function") else "")
    return {
        "rule": "untested", "passed": False, "path": row.get("path"), "lines": row.get("lines"), "message": message,
    }  # fmt: skip


def mutant_text(row: Json) -> str:
    """A mutant in words: where, and what became of what."""
    return f"{row.get('path')}:{row.get('line')}: {row.get('before')} -> {row.get('after')}"


def refit_facts(state: RunState, runtime: Runtime, facts: Json, *, tree: str, edits: Edits) -> dict[str, object]:
    """Measure it on a tree that passes.

    Args:
        facts: of GREEN so far.
    Returns:
        {refits: see measure_refits, belongs_to: rows for RED, whose tests and fixtures they are}.
    """
    frozen = FrozenTests(files=cast("Mapping[str, str]", state.work.facts.get("red", {}).get("frozen_files") or {}))
    new = (*frozen.whole, *frozen.parts)
    ids = [*texts(facts.get("refitted")), *texts(facts.get("rewritten"))]
    impact = state.work.facts.get("impact", {})
    near = within_share(state, runtime, [*texts(impact.get("nearest")), *texts(impact.get("tests"))])
    refits = Refits(
        refitted=texts(facts.get("refitted")),
        rewritten=texts(facts.get("rewritten")),
        beside=tuple(dict.fromkeys([*(path for path in new if path in _files(state)), *map(file_of, ids), *near])),
        told=words_of_people(state),
    )
    passing = facts.get("all_tests_pass") is True and facts.get("no_regressions") is True
    if passing:
        fact = measure_refits(
            bounded_rig(state, runtime), refits, base_tree=state.work.trees["baseline"], tree=tree, edits=edits,
            bounds=mutation_bounds(state, runtime),
        )  # fmt: skip
    else:
        fact = told_of_refits(refits, "not measured: the tree is refused for other reasons")
    thinned = [{"id": one, "path": file_of(one), "function": "", "text": _GONE} for one in texts(facts.get("thinned"))]
    fact["lost"] = [*items(fact["lost"]), *thinned]
    rows = [
        {"stage": "red", "rule": "refits-hold", "path": one["path"], "message": f"{one['id']} {one['text']}"}
        for one in items(fact["lost"])
    ]
    return {"refits": fact, "belongs_to": rows}


def _files(state: RunState) -> frozenset[str]:
    """The test files of RED that hold new tests."""
    return frozenset(file_of(str(one.get("id"))) for one in items(state.work.facts.get("red", {}).get("tests")))
