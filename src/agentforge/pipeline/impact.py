"""Which existing tests run what the specification changes: from the base line's coverage, else from imports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

from agentforge.events.state import RunState
from agentforge.pipeline.hanging import bounded_rig
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.scope import product_symbols, suite_files
from agentforge.pipeline.stage import Json, texts
from agentforge.workspace.relevance import is_test_path

if TYPE_CHECKING:
    from agentforge.pipeline.measured import Measured
    from agentforge.runners.traced import Traced

_KEPT = 1000
_NEAREST = 40
_NAMED = 12
_RUN_BESIDE = 60
_SLOW_S = 5.0


def measured_impact(state: RunState, runtime: Runtime) -> Measured:
    """Run the base line once more, recorded line by line, where it is not too slow.

    Returns:
        facts {method: coverage | imports | none, note, files, count, nearest, tests}; `nearest` execute a declared symbol.
    """
    from agentforge.pipeline.measured import Measured

    spec = state.artifacts.get("spec", {})
    symbols = [one for one in product_symbols(spec) if one.get("change") != "new"]
    named = dict.fromkeys([*texts(spec.get("files_to_modify")), *(str(one.get("file", "")) for one in symbols)])
    present = set(runtime.git.list_files(state.base_commit))
    files = [path for path in named if path in present and not is_test_path(path)]
    base = state.facts.get("baseline", {})
    if not files or not base.get("passed"):
        note = "only new files: no existing test runs them" if not files else "no test passes at the base"
        return Measured(facts=_facts("none", note, files, {}, ()))
    limit = runtime.verification.get("impact_s", 120)
    slow = cast("float", base.get("duration_s") or 0.0) > cast("float", limit)
    traced, note = _traced(state, runtime) if not slow else (None, f"the bare suite takes more than {limit} s")
    if traced is not None and traced.measured and not traced.lost:
        return Measured(facts=_by_coverage(state, runtime, traced, files, symbols))
    if traced is not None:
        note = traced.note
    return Measured(facts=_by_imports(state, runtime, files, note))


def looked_at_first(state: RunState) -> tuple[str, ...]:
    """The new tests and the impacted ones, where they are few beside a slow suite; () = the whole suite at once."""
    base, impact = state.facts.get("baseline", {}), state.facts.get("impact", {})
    tests = texts(impact.get("tests"))
    slow = cast("float", base.get("duration_s") or 0.0) >= _SLOW_S
    few = cast("int", impact.get("count") or 0) * 2 <= cast("int", base.get("tests") or 0)
    return (*suite_files(state), *tests) if tests and slow and few and len(tests) < _KEPT else ()


def near_tests(state: RunState) -> tuple[str, ...]:
    """The existing tests that an agent runs beside those of its stage: the nearest of the impacted."""
    impact = state.facts.get("impact", {})
    own = set(suite_files(state))
    found = [*texts(impact.get("nearest")), *texts(impact.get("tests"))]
    return tuple(one for one in dict.fromkeys(found) if one.partition("::")[0] not in own)[:_RUN_BESIDE]


def impact_text(state: RunState) -> str:
    """The impacted tests for GREEN: how many in which file, and the nearest by name."""
    impact = state.facts.get("impact", {})
    tests = texts(impact.get("tests"))
    if not tests:
        return ""
    counts = Counter(one.partition("::")[0] for one in tests)
    told = ", ".join(f"{path} ({count})" for path, count in counts.most_common(6))
    lines = [f"{impact.get('count')} existing tests run the files that you change; keep them passing: {told}"]
    nearest = texts(impact.get("nearest"))[:_NAMED]
    if nearest:
        lines.append(f"they run the very functions: {', '.join(nearest)}")
    return "\n".join(lines)


def _traced(state: RunState, runtime: Runtime) -> tuple[Traced, str]:
    from agentforge.runners.rig import run_tree
    from agentforge.runners.traced import traced_of

    return traced_of(run_tree(bounded_rig(state, runtime), state.trees["baseline"], trace=True)), ""


def _by_coverage(
    state: RunState, runtime: Runtime, traced: Traced, files: list[str], symbols: list[Json]
) -> dict[str, object]:
    from agentforge.runners.statements import body_of

    near: dict[str, None] = {}
    for one in symbols:
        path, name = str(one.get("file", "")), str(one.get("name", "")).split("(")[0].strip()
        lines = body_of(runtime.git.show(state.base_commit, path), name) if path.endswith(".py") else 0
        near.update(dict.fromkeys(traced.executing(path, lines) if lines else ()))
    all_of_them = dict(near)
    for path in files:
        all_of_them.update(dict.fromkeys(traced.executing(path, -1)))
    return _facts("coverage", traced.note, files, all_of_them, near)


def _by_imports(state: RunState, runtime: Runtime, files: list[str], note: str) -> dict[str, object]:
    """All tests of the test files that import one of the files, directly or through others."""
    from agentforge.runners.imports import reached

    rig = runtime.rig()
    if rig.plan.language != "python":
        return _facts("none", note, files, {}, ())
    present = frozenset(runtime.git.list_files(state.base_commit))
    read = rig.read(state.trees["baseline"])
    tests = [path for path in sorted(present) if path.endswith(".py") and is_test_path(path)]
    touched = {path for path in tests if set(files) & reached([path], present=present, roots=rig.plan.roots, read=read)}
    return _facts("imports", note, files, dict.fromkeys(sorted(touched)), ())


def _facts(method: str, note: str, files: list[str], tests: object, nearest: object) -> dict[str, object]:
    found = list(cast("dict[str, None]", tests))
    return {
        "method": method, "note": note, "files": files, "count": len(found),
        "nearest": list(cast("dict[str, None]", nearest))[:_NEAREST], "tests": found[:_KEPT],
    }  # fmt: skip
