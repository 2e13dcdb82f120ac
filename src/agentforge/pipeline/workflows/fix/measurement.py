"""What the verifier measures when violations are repaired. Every fact comes from git, the runners or the checks.

Does a test watch the place of a violation? Asked by execution: the code there is made to fail, and tests must notice.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from agentforge.conformance import CheckReport, Finding, compare, contracts_in, finding_from, fix_findings, violation_id
from agentforge.events.state.run_state import RunState
from agentforge.globs import matches
from agentforge.languages.python.source import module_of
from agentforge.pipeline.facts.conformance_facts import checks_of, report_on, reports, site_on
from agentforge.pipeline.facts.repeated_calls import repaired_facts
from agentforge.pipeline.facts.source_findings import check_facts, deceptions
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.model.runtime import Measured, Runtime, evidence_of
from agentforge.pipeline.model.scope import fix_scope, suite_files
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.suite import Edits, Rig, fresh_checkout, run_tree
from agentforge.verification.source.evasion import new_suppressions
from agentforge.verification.stages.green import Promise, measure_green
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Read

_ABOUT_TYPES = frozenset({"mypy", "ty", "pyright", "imports"})
"""Their findings can mean that a module which the file imports is wrong."""
_ABOUT_ROOM = frozenset({"size", "complexity"})
"""Their findings can mean that code moves into a new file of the same folder."""
_ROOTS = ("", "src/", "lib/")


def repair_scope(findings: Iterable[Finding], *, read: Read, present: Iterable[str]) -> tuple[str, ...]:
    """The paths and patterns that a repair of the findings may write, violating files first.

    Args:
        read: content of a file at the base; None = there is none.
        present: the files of the base.
    """
    listed = list(findings)
    known = frozenset(present)
    scope = [finding.path for finding in listed]
    for finding in listed:
        if finding.check in _ABOUT_TYPES and finding.path.endswith(".py"):
            scope += _imported(finding.path, read(finding.path), known)
        if finding.check in _ABOUT_ROOM:
            path = PurePosixPath(finding.path)
            scope.append(f"{path.parent}/*{path.suffix}" if str(path.parent) != "." else f"/*{path.suffix}")
    return tuple(dict.fromkeys(scope))


def _imported(path: str, source: bytes | None, known: frozenset[str]) -> Iterator[str]:
    """The modules of the project that a file imports itself."""
    for node in ast.walk(module_of(source)):
        for module in _modules(node, path):
            stem = module.replace(".", "/")
            for root in _ROOTS:
                yield from (one for one in (f"{root}{stem}.py", f"{root}{stem}/__init__.py") if one in known)


def _modules(node: ast.AST, path: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        folder = PurePosixPath(path).parts[: -node.level] if node.level else ()
        base = ".".join([*folder, *([node.module] if node.module else [])])
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


_NO_GUARDS: Mapping[str, object] = {
    "tests": [],
    "guards_pass": True,
    "declared_missing": [],
    "collection_errors": [],
    "duplicates": [],
    "product_changed": [],
    "frozen": {},
    "frozen_files": {},
    "unguarded": [],
    "existing_changed": [],
    "controls": {"held": True},
}


def targets_of(state: RunState) -> list[Finding]:
    """What the run repairs."""
    return [finding_from(row) for row in state.brief.violations]


def _analyze(state: RunState, _draft: Json, runtime: Runtime) -> Measured:
    """Find the violations at the base, try the repairs that checks offer, and ask whether tests watch the places."""
    targets, base, rig = targets_of(state), state.work.trees["baseline"], runtime.rig()
    paths = sorted({finding.path for finding in targets})
    with fresh_checkout(rig, base) as checkout:
        theirs = frozenset(finding.check for finding in targets)
        before = report_on(checkout, state, runtime, paths=paths, only=theirs)
        gone = _left_of(targets, before)[1]
        repaired: dict[str, bytes] = {}
        if not gone:
            checks = checks_of(runtime)
            repaired = fix_findings(site_on(checkout, runtime, paths=paths), targets, checks=checks)
        after = report_on(checkout, state, runtime, paths=paths, only=theirs) if repaired else before
    fixed = (
        bool(repaired) and not _left_of(targets, after)[0] and compare(before, after).passed
    )  # CHANGE asks all checks
    passing = passing_ids(evidence_of(state, runtime, "baseline"), {})
    facts: dict[str, object] = {
        "targets": [finding.value() for finding in targets],
        "gone": gone,
        "rules": _rules_of(state, runtime),
        "scope": list(repair_scope(targets, read=rig.read(base), present=runtime.git.list_files(base))),
        "repairs": {path: runtime.blobs.put(data) for path, data in repaired.items()},
        "fixed": fixed,
        "unguarded": [] if fixed else unguarded(targets, rig, tree=base, passing=passing),
    }
    return Measured(facts=facts)


def _guard(state: RunState, draft: Json, runtime: Runtime) -> Measured:
    """Run the guard tests at the base, and ask again whether the places are watched."""
    tree = _snapshot(runtime)
    declared = [
        {"path": file.get("path", ""), "name": test.get("name", ""), "kind": "guard"}
        for file in items(draft.get("test_files"))
        for test in items(file.get("tests"))
    ]
    if not declared:
        return Measured(facts={**_NO_GUARDS, "unguarded": _unguarded_before(state)}, tree=tree)
    facts, evidence = measure_red(
        runtime.rig(),
        Suite(tests=declared, action="refactor"),
        base_tree=state.work.trees["baseline"],
        red_tree=tree,
        with_stubs=False,
    )
    passing = passing_ids(evidence_of(state, runtime, "baseline"), facts)
    facts["unguarded"] = unguarded(targets_of(state), runtime.rig(), tree=tree, passing=passing)
    return Measured(facts=facts, evidence=evidence, tree=tree)


def _unguarded_before(state: RunState) -> list[str]:
    """Places that needed a guard and got none; a repair that a check made itself needs none."""
    return texts(state.work.facts.get("analyze", {}).get("unguarded"))


def _change(state: RunState, _draft: Json, runtime: Runtime) -> Measured:
    """Look at the changed files alone: is it gone, is nothing new, was nothing else touched?"""
    if state.review.submission is not None and state.review.submission.by == "harness":
        _put_repairs(state, runtime)
    tree = _snapshot(runtime)
    return Measured(facts=_changed_facts(state, runtime, tree), tree=tree)


def _verify(state: RunState, _draft: Json, runtime: Runtime) -> Measured:
    """The whole suite in a fresh checkout, the checks, the scope: what GREEN is held against, and the violations."""
    tree, guard, base = _snapshot(runtime), state.work.facts.get("guard", {}), state.work.trees["baseline"]
    promise = Promise(
        red=guard, baseline=evidence_of(state, runtime, "baseline"), scope=(*fix_scope(state), *suite_files(state))
    )
    facts, evidence = measure_green(
        bounded_rig(state, runtime), promise, base_tree=base, red_tree=state.work.trees.get("guard", base), tree=tree
    )
    facts |= check_facts(state, runtime, tree=tree)
    if facts["no_regressions"]:
        facts |= repaired_facts(state, runtime, tree=tree)
    facts["deceptions"] = deceptions(state, runtime, tree=tree)
    known = state.work.facts.get("change", {})
    changed = known if known.get("tree") == tree else _changed_facts(state, runtime, tree)
    return Measured(facts={**facts, **changed}, evidence=evidence, tree=tree)


FIX_MEASURES: dict[str, Callable[[RunState, Json, Runtime], Measured]] = {
    "violation_analysis": _analyze,
    "guard_suite": _guard,
    "violation_fix": _change,
    "fix_verification": _verify,
}
"""Contract -> what measures a draft for it."""


def _changed_facts(state: RunState, runtime: Runtime, tree: str) -> dict[str, object]:
    base, rig = state.work.trees["baseline"], runtime.rig()
    changes = runtime.git.changed(base, tree)
    targets = targets_of(state)
    paths = sorted({*(item.path for item in changes), *(finding.path for finding in targets)})
    before, after = reports(state, runtime, base=base, tree=tree, paths=paths)
    left, _ = _left_of(targets, after)
    guards = suite_files(state)
    suppressed = new_suppressions([item.path for item in changes], before=rig.read(base), after=rig.read(tree))
    return {
        "changes": [
            {"path": item.path, "status": item.status, "added": item.added or 0, "removed": item.removed or 0}
            for item in changes
        ],
        "conformance": compare(before, after).facts(),
        "violations_left": left,
        "not_measured": [one.value() for one in after.crashed if one.check in {target.check for target in targets}],
        "out_of_scope": _out_of_scope([item.path for item in changes], (*fix_scope(state), *guards)),
        "new_suppressions": [
            {"path": one.path, "line": one.line, "text": one.text} for one in suppressed if one.path not in guards
        ],
        "test_files": list(guards),
        "tree": tree,
    }


def _left_of(targets: list[Finding], report: CheckReport) -> tuple[list[dict[str, object]], list[str]]:
    """Of the targets: what a report still holds, and the names of what it does not."""
    there = {finding.fingerprint: finding for finding in report.findings if finding.counts}
    left = [there[target.fingerprint].value() for target in targets if target.fingerprint in there]
    gone = [f"{violation_id(target)} {target.path}" for target in targets if target.fingerprint not in there]
    return left, gone


def _out_of_scope(paths: list[str], scope: tuple[str, ...]) -> list[str]:
    return [path for path in paths if not any(matches(one, path) for one in scope)]


def _rules_of(state: RunState, runtime: Runtime) -> list[dict[str, object]]:
    """The rules that are broken, in the words of the contracts for code that ask for them."""
    with fresh_checkout(runtime.rig(), state.work.trees["baseline"]) as checkout:
        contracts = contracts_in(checkout)
    names = dict.fromkeys(finding.rule_id for finding in targets_of(state) if finding.contract)
    found = [contracts.rule(name) or contracts.rule(name.partition(".")[0]) for name in names]
    return [
        {"rule": rule.rule_id, "contract": rule.contract, "description": rule.description, "hint": rule.hint}
        for rule in found
        if rule is not None
    ]


def _put_repairs(state: RunState, runtime: Runtime) -> None:
    """Write what the checks repaired into the workspace."""
    repairs = state.work.facts.get("analyze", {}).get("repairs")
    for path, digest in repairs.items() if isinstance(repairs, Mapping) else ():
        (runtime.worktree / path).write_bytes(runtime.blobs.get(str(digest)))


def _snapshot(runtime: Runtime) -> str:
    return runtime.git.snapshot(runtime.worktree, index=runtime.scratch / "index")


_MOST_PLACES = 6
_RAISE = 'raise RuntimeError("made to fail, to see which test notices")'


def unguarded(findings: Iterable[Finding], rig: Rig, *, tree: str, passing: Iterable[str]) -> list[str]:
    """Name the places (`path` or `path: function`) whose failure no passing test notices.

    Only Python product code can be asked; places in tests and in other languages are not named. At most six places are
    asked, each costs a run of the suite.

    Args:
        passing: ids of the tests that pass at `tree`.
    """
    known = set(passing)
    places: dict[str, tuple[str, bytes]] = {}
    for finding in findings:
        source = rig.git.show(tree, finding.path) if _can_be_asked(finding.path) else None
        probe = broken_at(source, finding.line) if source is not None else None
        if probe is not None:
            places[f"{finding.path}: {probe[0]}" if probe[0] else finding.path] = (finding.path, probe[1])
    names = []
    for name, (path, text) in list(places.items())[:_MOST_PLACES]:
        run = run_tree(rig, tree, edits=Edits(files={path: text})) if known else None
        if run is None or (run.complete and known <= set(run.passed_ids)):
            names.append(name)
    return names


def broken_at(source: bytes, line: int) -> tuple[str, bytes] | None:
    """Make the innermost function around a line fail, else the module; None when the source does not parse.

    Returns:
        The function's name ("" = the module) and the source that fails there.
    """
    try:
        tree = ast.parse(source)
        text = source.decode("utf-8")
    except (SyntaxError, ValueError):
        return None
    lines = text.splitlines(keepends=True)
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _holds(node, line)
    ]
    if around:
        function = max(around, key=lambda node: node.lineno)
        first = _after_docstring(function.body)
        if first.lineno == function.lineno:
            return None
        at, indent, name = first.lineno - 1, " " * first.col_offset, function.name
    else:
        body = [node for node in tree.body if not _is_future(node)]
        if not body:
            return None
        at, indent, name = _after_docstring(body).lineno - 1, "", ""
    lines.insert(at, f"{indent}{_RAISE}\n")
    return name, "".join(lines).encode()


def passing_ids(evidence: Mapping[str, object], facts: Mapping[str, object]) -> list[str]:
    """Tests that pass: those of the base line, and the guards that were measured since."""
    known = evidence.get("passed_ids")
    tests = facts.get("tests")
    rows = tests if isinstance(tests, (list, tuple)) else ()
    ids = [str(one) for one in known] if isinstance(known, (list, tuple)) else []
    return ids + [str(row["id"]) for row in rows if row.get("outcome") == "passed"]


def _can_be_asked(path: str) -> bool:
    return path.endswith(".py") and not is_test_path(path)


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _after_docstring(body: list[ast.stmt]) -> ast.stmt:
    first = body[0]
    documented = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1] if documented and len(body) > 1 else first


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
