"""Runs of RED's tests against stubs: how long they may take, which of them are controls, what survives.

Stub variants of the declared symbols, and what a suite shows that passes against them.
After GREEN, with every changed function wrong, the targets must fail again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from agentforge.languages.catalogue import is_compiled, languages, of_path
from agentforge.languages.python.source import reached
from agentforge.languages.stub_values import NullWay, Source, Variant
from agentforge.languages.symbols import Symbol
from agentforge.suite import Edits, Rig, run_tree, sound
from agentforge.testing.outcome import SuiteRun, without_parameters
from agentforge.underway import underway
from agentforge.verification.counterexamples.patience import Patience
from agentforge.workspace.code.relevance import is_test_path

_NEAR_FILES = 10
_SAID, _SAID_LINES = 500, 3
_FIRST = ("raises", "wrong")  # they are run whatever the time
_DOCUMENTS = (".md", ".rst", ".txt", ".pyi", ".d.ts", ".lock", "go.sum")


@dataclass(frozen=True, slots=True, kw_only=True)
class StubRuns:
    """What became of stubs.

    Attributes:
        made: the stubs that are controls: a compiler took them, and there was time for them.
        runs: the run against each.
        late: how many were not run, because the time for all of them was over.
    """

    made: tuple[Variant, ...] = ()
    runs: Mapping[str, SuiteRun] = field(default_factory=dict)
    late: int = 0

    def joined(self, more: StubRuns) -> StubRuns:
        """These and others."""
        return StubRuns(made=(*self.made, *more.made), runs={**self.runs, **more.runs}, late=self.late + more.late)


def run_stubs(patience: Patience, red_tree: str, files: Sequence[str], made: Sequence[Variant]) -> StubRuns:
    """Run tests against stubs, as far as the time goes; what a compiler does not take shows nothing of the tests."""
    compiled = is_compiled(patience.rig.plan)
    runs: dict[str, SuiteRun] = {}
    late = 0
    for number, one in enumerate(made, 1):
        surely = one.name in _FIRST
        rig = patience.rig if surely else patience.shortened
        with underway(f"runs the new tests against a wrong implementation, {number} of {len(made)}"):
            run = _run_stub(rig, red_tree, files, one) if rig is not None else None
        if rig is None or run is None or (run.timed_out and rig.timeout_s < patience.rig.timeout_s):
            late += 1
        elif not compiled or stub_compiles(run, one):
            runs[one.name] = run
    return StubRuns(made=tuple(one for one in made if one.name in runs), runs=runs, late=late)


def stub_control(stubs: StubRuns, rig: Rig, *, base_tree: str, files: Sequence[str]) -> bool | str:
    """Whether one run against a stub at least is evidence; a stub may break the import of everything else.

    Where it breaks the import of the project itself, with the tests of the base, the answer says so instead of False: no run
    against a stub can say anything about the new tests then. A new test that itself ends its runner leaves the runs of the base
    as they were.

    Args:
        files: RED's test files; those that the base has are run, else up to ten of the base's that import what is stubbed, or,
            where imports are not read, that are written in the same language.
    """
    made = stubs.made
    if not made or any(sound(run, rig.plan) for run in stubs.runs.values()):
        return True
    present = frozenset(rig.git.list_files(base_tree))
    stubbed = sorted({path for one in made for path in one.files})
    own = [path for path in files if path in present] or [
        *(near_tests(rig, base_tree, stubbed, apart=files) or _like(files, present))
    ]
    broken = bool(own) and not any(sound(_run_stub(rig, base_tree, own, one), rig.plan) for one in made)
    return "none can be loaded" if broken else False


def stub_controls(stubs: StubRuns, control: bool | str) -> dict[str, object]:
    """What `stub_control` found as facts; where no run came to results, with how the first one ended."""
    if control is not False:
        return {"stubs": control}
    run = next(iter(stubs.runs.values()), SuiteRun())
    said = " / ".join([*run.problems, *run.output_tail.strip().splitlines()[-_SAID_LINES:]])
    ended = f"no run against a wrong version of the declared symbols came to results: {said}"
    return {"stubs": control, "stubs_ended": ended[:_SAID]}


def surviving(
    stub_runs: Mapping[str, SuiteRun], made: Sequence[Variant], targets: Sequence[str]
) -> list[tuple[str, str]]:
    """The (stub, target) pairs of targets that a wrong implementation satisfies."""
    ran = [variant for variant in made if variant.name in stub_runs]
    return survivors({name: run.passed_ids for name, run in stub_runs.items()}, made=ran, targets=targets)


def noticed_by_others(
    rig: Rig,
    red_tree: str,
    living: Sequence[tuple[str, str]],
    *,
    made: Mapping[str, Variant],
    runs: Mapping[str, SuiteRun],
    passing: frozenset[str],
    files: Sequence[str],
) -> frozenset[str]:
    """The surviving stubs that a test of the base, or a guard, notices: such an implementation gets no further.

    Args:
        living: (stub, target) pairs; "any value" stands for `empty` and `other` together.
        passing: ids that pass without a stub and are no targets.
        files: test files to be asked where those beside the targets notice nothing.
    """
    parts = {name: ("empty", "other") if name not in made else (name,) for name, _ in living}
    found: set[str] = set()
    for name in sorted({part for ones in parts.values() for part in ones if part in made}):
        run = runs[name]
        if not passing & set(run.failing_ids) and files:
            run = _run_stub(rig, red_tree, files, made[name])
            known = run_tree(rig, red_tree, tests=files) if run.failing_ids else run
            passing |= frozenset(known.passed_ids)
        if passing & set(run.failing_ids):
            found.add(name)
    return frozenset(name for name, ones in parts.items() if found.issuperset(ones))


def noticed_by_targets(
    living: Sequence[tuple[str, str]],
    entries: Sequence[Mapping[str, Any]],
    *,
    runs: Mapping[str, SuiteRun],
    importing: Collection[str] = (),
) -> frozenset[tuple[str, str]]:
    """The surviving (stub, target) pairs of tests that another stub makes fail by what it gives, where other targets refuse this
    one. `Numbers come in the order of their values` may hold of one stub by chance, and is a whole test beside the others.

    Args:
        living: "any value" stands for `empty` and `other` together.
        importing: tests of which no stub can make anything but a test that passes.
    """
    targets = {str(entry["id"]) for entry in entries if entry["kind"] == "target"}
    failing = {nodeid for name, run in runs.items() if name != "raises" for nodeid in run.failing_ids}

    def refused(stub: str, nodeid: str) -> bool:
        parts = (stub,) if stub in runs else ("empty", "other")
        return all((targets - {nodeid}) & set(runs[part].failing_ids) for part in parts if part in runs)

    telling = failing | {one for one in targets if without_parameters(one) in importing}
    return frozenset((stub, nodeid) for stub, nodeid in living if nodeid in telling and refused(stub, nodeid))


def stub_note(stubs: StubRuns, rig: Rig, *, with_stubs: bool) -> str:
    """Why there was no control by stubs, or not by all; empty when there was."""
    if stubs.late:
        return f"{stubs.late} stubs were not run: the time for all of them was over"
    if stubs.made:
        return ""
    if not with_stubs:
        return "stub controls were not asked for"
    if all(one.name != rig.plan.language or one.stubs is None for one in languages()):
        return f"no stub controls for {rig.plan.language}"
    if is_compiled(rig.plan):
        return "no stub of the declared symbols could be made and compiled: a new one needs its signature in the specification"
    return f"the specification declares no new or changed symbol of {rig.plan.language}: no stub controls"


def near_tests(rig: Rig, tree: str, product: Sequence[str], *, apart: Sequence[str]) -> tuple[str, ...]:
    """Test files that import one of some product files, directly or through others; the first few.

    Args:
        apart: files that have been asked already.
    """
    present = frozenset(rig.git.list_files(tree))
    tests = [path for path in sorted(present) if path.endswith(".py") and is_test_path(path) and path not in apart]
    found = (
        path
        for path in tests
        if frozenset(product) & reached([path], present=present, roots=rig.plan.roots, read=rig.read(tree))
    )
    return tuple(islice(found, _NEAR_FILES))


def _like(files: Sequence[str], present: Collection[str]) -> tuple[str, ...]:
    """The first few test files of a tree with the endings of others."""
    endings = tuple({PurePosixPath(path).suffix for path in files})
    found = (path for path in sorted(present) if path.endswith(endings) and is_test_path(path))
    return tuple(islice(found, _NEAR_FILES))


def _run_stub(rig: Rig, red_tree: str, files: Sequence[str], variant: Variant) -> SuiteRun:
    edits = Edits(files={path: text.encode("utf-8", "surrogateescape") for path, text in variant.files.items()})
    return run_tree(rig, red_tree, tests=files, edits=edits)


def variants(symbols: Iterable[Symbol], *, source: Source, seed: str) -> tuple[Variant, ...]:
    """Make the stub variants of the declared symbols, the raising one first, in the first language that can make some.

    Args:
        source: text of a repository path at the base; None when it does not exist.
        seed: draws the wrong values, so that no test can know them.
    Returns:
        () when no symbol of a language that makes stubs is declared as new or changed.
    """
    declared = tuple(symbols)
    for language in languages():
        made = language.stubs(declared, source=source, seed=seed) if language.stubs is not None else ()
        if made:
            return made
    return ()


def spoiling_runs(
    patience: Patience, red_tree: str, files: Sequence[str], symbols: Iterable[Symbol], *, source: Source, seed: str
) -> Mapping[str, SuiteRun]:
    """Run tests against the implementation that changes what it is given: one that looks at that alone fails by it."""
    declared = tuple(symbols)
    makers = (one.spoiling for one in languages() if one.spoiling is not None)
    made = next((found for maker in makers if (found := maker(declared, source=source, seed=seed))), ())
    return run_stubs(patience, red_tree, files, made).runs


def stub_compiles(run: SuiteRun, variant: Variant) -> bool:
    """Whether a compiler took a stub; one that does not compile shows nothing of the tests."""
    blamed = {one.failure.file for one in run.collection_errors if one.failure is not None}
    blamed |= {problem.removesuffix(" does not compile") for problem in run.problems}
    unbuilt = [problem for problem in run.problems if " could not be built: " in problem]
    named = any(_names(problem, path) for problem in unbuilt for path in variant.files)
    return not blamed & set(variant.files) and not named


def _names(problem: str, path: str) -> bool:
    """Whether what a build says is about a file: by its path, or by its name among those of its folder."""
    return re.search(rf"(?<![\w.-]){re.escape(PurePosixPath(path).name)}(?![\w.-])", problem) is not None


def survivors(
    passed: Mapping[str, Iterable[str]], *, made: Sequence[Variant], targets: Iterable[str]
) -> list[tuple[str, str]]:
    """Say which targets a wrong implementation satisfies.

    A target must fail for every hard variant, and for one of `empty` and `other`, which differ in value. A target that
    expects an empty result may pass for `empty`; but no single variant may satisfy all targets.

    Args:
        passed: variant name -> ids that passed under it.
    Returns:
        (variant, id) pairs, sorted.
    """
    wanted = set(targets)
    by_name = {one.name: wanted & set(passed.get(one.name, ())) for one in made}
    found = {(one.name, nodeid) for one in made if one.hard for nodeid in by_name[one.name]}
    found |= {("any value", nodeid) for nodeid in by_name.get("empty", set()) & by_name.get("other", set())}
    for one in made:
        if not one.hard and wanted and by_name[one.name] == wanted:
            found |= {(one.name, nodeid) for nodeid in wanted}
    return sorted(found)


def hollow_targets(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], targets: Sequence[str], edits: Edits,
    observed: Mapping[str, str] | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Run the targets against the tree with wrong bodies under the real signatures of all changed functions.

    Nothing can be told of a change that is partly data (a constant, a field, a base class, a decorator, something taken away,
    a file of a language without null implementations): that part alone may rightly satisfy a target.

    Args:
        targets: ids of the new tests that failed at the base.
        edits: what every run of the tree gets.
        observed: function name -> type of the result that tests expect, for functions without an annotation.
    Returns:
        ids of targets that pass whichever way the functions are wrong; () when there is nothing to replace.
    """
    product = [one for one in changed if one not in edits.files and not one.endswith(_DOCUMENTS)]
    files = tuple(dict.fromkeys(nodeid.partition("::")[0] for nodeid in targets))
    left, before = set(targets), None
    for raising in (True, False):
        way = NullWay(seed=tree, raising=raising, observed=observed or {})
        wrong = _wrong_files(rig, base_tree, tree, product, way)
        if not wrong or not left:
            return ()
        if wrong != before:
            run = run_tree(rig, tree, tests=files, edits=Edits(files={**edits.files, **wrong}))
            left &= set(run.passed_ids)
        before = wrong
    return tuple(sorted(left))


def _wrong_files(rig: Rig, base_tree: str, tree: str, product: Sequence[str], way: NullWay) -> dict[str, bytes | None]:
    """The changed files with wrong functions; empty when the change is data, or a function has no wrong value."""
    made: dict[str, bytes | None] = {}
    for path in product:
        language, after = of_path(path), rig.git.show(tree, path)
        if language is None or language.null_implementation is None or after is None:
            return {}
        text = language.null_implementation(path, rig.git.show(base_tree, path), after, way=way)
        if text is None:
            return {}
        made |= {path: text} if text else {}
    return made
