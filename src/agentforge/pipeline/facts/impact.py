"""Which existing tests run what the specification changes: from the base line's coverage, else from imports."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import cast

from agentforge.events.state.run_state import RunState
from agentforge.languages.python.source import reached
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.model.runtime import Measured, Runtime
from agentforge.pipeline.model.scope import product_symbols, suite_files, suite_parts
from agentforge.pipeline.model.stage import Json, texts
from agentforge.suite import run_tree
from agentforge.testing.coverage import Traced, traced_of
from agentforge.testing.outcome import SuiteRun
from agentforge.underway import underway
from agentforge.verification.counterexamples.nearest_tests import tests_near
from agentforge.verification.stages.statements import body_of
from agentforge.workspace.code.relevance import is_test_path

_KEPT = 1000
_NEAREST = 40
_NAMED = 12
_RUN_BESIDE = 60
_SLOW_S = 20.0
_LONG_S = 0.1
"""A test that takes so long, at the base or while its lines are recorded, is asked where quicker ones leave something open."""
_SHARE, _LEAST_S = 0.12, 0.75
"""What a look at some of the base's tests may take, as a share of the whole suite's time, and in seconds for a quick one."""


def measured_impact(state: RunState, runtime: Runtime) -> Measured:
    """Run the tests of the base that are nearest to the change once more, and record which of them execute its files.

    The whole suite where it is quick; else the tests whose files name a changed symbol, import a changed file, or reach one
    through others, in this order, for a share of the suite's time.

    Returns:
        facts {method: coverage | imports | none, note, files, count, nearest, tests}; `nearest` execute a declared symbol.
        `looked_at` is how many tests were run for it, where not all of them were; `long` are those that took long.
    """
    spec = state.work.artifacts.get("spec", {})
    symbols = [one for one in product_symbols(spec) if one.get("change") != "new"]
    named = dict.fromkeys([*texts(spec.get("files_to_modify")), *(str(one.get("file", "")) for one in symbols)])
    present = set(runtime.git.list_files(state.identity.base_commit))
    files = [path for path in named if path in present and not is_test_path(path)]
    base = state.work.facts.get("baseline", {})
    if not files or not base.get("passed"):
        note = "only new files: no existing test runs them" if not files else "no test passes at the base"
        return Measured(facts=_facts("none", note, files, {}, ()))
    if runtime.rig().plan.language != "python":
        return Measured(facts=_by_imports(state, runtime, files, f"{runtime.rig().plan.runner} records no lines"))
    limit = runtime.verification.get("impact_s", 120)
    slow = cast("float", base.get("duration_s") or 0.0) > cast("float", limit)
    chosen = _near_the_change(state, runtime, files, symbols)
    if slow:
        return Measured(facts=_by_imports(state, runtime, files, f"the bare suite takes more than {limit} s"))
    run = _recorded(state, runtime, files, chosen)
    traced = traced_of(run)
    if not traced.measured or traced.lost:
        return Measured(facts=_by_imports(state, runtime, files, traced.note))
    facts = _by_coverage(state, runtime, traced, files, symbols, asked=len(chosen))
    long = [name for name in texts(facts["tests"]) if run.outcomes[name].duration_s >= _LONG_S]
    return Measured(facts={**facts, "long": long} if long else facts)


def quick_and_long(state: RunState, runtime: Runtime) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The impacted tests that take a share of the suite's time, the nearest first: the quick ones, and the others."""
    impact, known = state.work.facts.get("impact", {}), durations(state, runtime)
    long = {*texts(impact.get("long")), *(name for name, took in known.items() if took >= _LONG_S)}
    chosen = within_share(state, runtime, [*texts(impact.get("nearest")), *texts(impact.get("tests"))])
    return tuple(one for one in chosen if one not in long), tuple(one for one in chosen if one in long)


def looked_at_first(state: RunState) -> tuple[str, ...]:
    """The new tests and the impacted ones, where they are few beside a slow suite; () = the whole suite at once."""
    base, impact = state.work.facts.get("baseline", {}), state.work.facts.get("impact", {})
    tests = texts(impact.get("tests"))
    slow = cast("float", base.get("duration_s") or 0.0) >= _SLOW_S
    few = cast("int", impact.get("count") or 0) * 4 <= cast("int", base.get("tests") or 0)
    return (*suite_files(state), *suite_parts(state), *tests) if tests and slow and few and len(tests) < _KEPT else ()


def within_share(state: RunState, runtime: Runtime, tests: Iterable[str]) -> tuple[str, ...]:
    """Those of some tests of the base, the first first, whose time there together is a share of the whole suite's."""
    base, known = state.work.facts.get("baseline", {}), durations(state, runtime)
    whole = cast("float", base.get("duration_s") or 0.0)
    ran = sum(known.values()) or whole
    usual = ran / max(cast("int", base.get("tests") or 0), 1)
    left = max(_LEAST_S, _SHARE * ran)
    kept: list[str] = []
    for name in dict.fromkeys(tests):
        took = known.get(name, usual)
        if took <= left:  # a slow one keeps none of those behind it out
            left -= took
            kept.append(name)
    return tuple(kept)


def durations(state: RunState, runtime: Runtime) -> dict[str, float]:
    """How long each test took at the base, seconds; {} in runs that were recorded before this was."""
    digest = state.work.evidence.get("baseline")
    value = json.loads(runtime.blobs.get(digest)) if digest else {}
    return {str(name): float(took) for name, took in value.get("durations", {}).items()}


def near_tests(state: RunState) -> tuple[str, ...]:
    """The existing tests that an agent runs beside those of its stage: the nearest of the impacted."""
    impact = state.work.facts.get("impact", {})
    own = set(suite_files(state))
    found = [*texts(impact.get("nearest")), *texts(impact.get("tests"))]
    return tuple(one for one in dict.fromkeys(found) if one.partition("::")[0] not in own)[:_RUN_BESIDE]


def impact_text(state: RunState) -> str:
    """The impacted tests for GREEN: how many in which file, and the nearest by name."""
    impact = state.work.facts.get("impact", {})
    tests = texts(impact.get("tests"))
    if not tests:
        return ""
    counts = Counter(one.partition("::")[0] for one in tests)
    told = ", ".join(f"{path} ({count})" for path, count in counts.most_common(6))
    looked = f" of the {impact['looked_at']} nearest" if impact.get("looked_at") else ""
    lines = [f"{impact.get('count')}{looked} existing tests run the files that you change; keep them passing: {told}"]
    nearest = texts(impact.get("nearest"))[:_NAMED]
    if nearest:
        lines.append(f"they run the very functions: {', '.join(nearest)}")
    return "\n".join(lines)


def _recorded(state: RunState, runtime: Runtime, files: list[str], tests: tuple[str, ...]) -> SuiteRun:
    rig, tree = bounded_rig(state, runtime), state.work.trees["baseline"]
    with underway("records which tests run what will change"):
        return run_tree(rig, tree, tests=tests, trace=True, traced_files=files)


def _near_the_change(state: RunState, runtime: Runtime, files: list[str], symbols: list[Json]) -> tuple[str, ...]:
    """The tests that are looked at; () = the whole suite, which is quick."""
    rig, tree = runtime.rig(), state.work.trees["baseline"]
    digest = state.work.evidence.get("baseline")
    evidence = json.loads(runtime.blobs.get(digest)) if digest else {}
    passing: dict[str, list[str]] = {}
    for name in evidence.get("passed_ids", ()):
        passing.setdefault(str(name).partition("::")[0], []).append(str(name))
    all_of_them = [name for names in passing.values() for name in names]
    if rig.plan.language != "python" or len(within_share(state, runtime, all_of_them)) == len(all_of_them):
        return ()
    present, read = frozenset(runtime.git.list_files(state.identity.base_commit)), rig.read(tree)
    words = {str(one.get("name", "")).split("(")[0].strip().rpartition(".")[2].encode() for one in symbols} - {b""}
    ranks: dict[str, int] = {}
    for path in passing:
        text = read(path) or b""
        if any(re.search(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", text) for word in words):
            ranks[path] = 0
        elif set(files) & reached([path], present=present, roots=rig.plan.roots, read=read):
            ranks[path] = 1 if any(PurePosixPath(one).stem.encode() in text for one in files) else 2
    nearest = sorted(ranks, key=lambda path: ranks[path])
    return within_share(state, runtime, [name for path in nearest for name in passing[path]])


def _by_coverage(
    state: RunState, runtime: Runtime, traced: Traced, files: list[str], symbols: list[Json], *, asked: int
) -> dict[str, object]:
    near: dict[str, None] = {}
    for one in symbols:
        path, name = str(one.get("file", "")), str(one.get("name", "")).split("(")[0].strip()
        lines = body_of(runtime.git.show(state.identity.base_commit, path), name) if path.endswith(".py") else 0
        near.update(dict.fromkeys(traced.executing(path, lines) if lines else ()))
    all_of_them = dict(near)
    for path in files:
        all_of_them.update(dict.fromkeys(traced.executing(path, -1)))
    part = f"recorded of the {asked} tests that are nearest to the change, a share of the suite's time" if asked else ""
    looked = {"looked_at": asked} if asked else {}
    return {**_facts("coverage", "; ".join(filter(None, (traced.note, part))), files, all_of_them, near), **looked}


def _by_imports(state: RunState, runtime: Runtime, files: list[str], note: str) -> dict[str, object]:
    """The test files that import one of the files, directly or through others; where that is not read, those that lie near."""
    rig = runtime.rig()
    present = frozenset(runtime.git.list_files(state.identity.base_commit))
    read = rig.read(state.work.trees["baseline"])
    if rig.plan.language != "python":
        near = tests_near(files, present=present, read=read)
        return _facts("imports" if near else "none", note, files, dict.fromkeys(near), ())
    tests = [path for path in sorted(present) if path.endswith(".py") and is_test_path(path)]
    touched = {path for path in tests if set(files) & reached([path], present=present, roots=rig.plan.roots, read=read)}
    return _facts("imports", note, files, dict.fromkeys(sorted(touched)), ())


def _facts(method: str, note: str, files: list[str], tests: object, nearest: object) -> dict[str, object]:
    found = list(cast("dict[str, None]", tests))
    return {
        "method": method, "note": note, "files": files, "count": len(found),
        "nearest": list(cast("dict[str, None]", nearest))[:_NEAREST], "tests": found[:_KEPT],
    }  # fmt: skip
