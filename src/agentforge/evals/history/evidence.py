"""What a commit's own tests say before it and at it: which of them judge the change, and why a commit has none that do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath

from agentforge.config.settings import Settings
from agentforge.errors import SandboxError, ToolchainError
from agentforge.evals.history.commits import History, HistoryCommit
from agentforge.evals.trials.hidden import rig_at
from agentforge.evals.trials.test_files import holds_tests, python_patterns
from agentforge.suite import Edits, Rig, run_tree, sound
from agentforge.testing.outcome import SuiteRun
from agentforge.verification.counterexamples.patience import impatient, seconds_of_tests
from agentforge.verification.source.test_hashes import test_hashes
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of

ALL_PASS = "all of its tests pass before it, too: nothing in them asks for the change"

_NOT_RUN = "none of the files of the tests that it changes holds a test that a runner is told to run"
_MOST_NEIGHBOURS = 2
_PACKAGES = ("__init__", "index", "mod", "lib")  # files that stand for their folder
_SHOWN = 300  # characters of a failure
_NAMED = 5
_TEST_LEAST_S, _TEST_FACTOR = 5.0, 3.0  # one test may take several times as long as all of them at the commit


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEvidence:
    """How the tests of a commit's changed test files end.

    Attributes:
        files: path -> text of every file of the tests that the commit adds or changes, data and helpers included; of a commit
            that changes none, test files that speak of the changed code.
        run: the paths among them that hold tests.
        targets: ids that pass at the commit and do not pass on the state before it.
        guards: ids that pass on both.
        uncounted: ids that do not pass at the commit itself, or not every time.
        reason: why the commit cannot be judged by its tests, as a sentence; "" when it can.
    """

    files: dict[str, str]
    run: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    reason: str = ""


def evidence_of(
    commit: HistoryCommit, history: History, rig: Rig, *, settings: Settings, environ: Mapping[str, str]
) -> HistoryEvidence:
    """Run the changed test files of a commit on the state before it and at the commit, as the commit's own tree runs its tests.

    Where it changes data of the tests alone, the test files that speak of this data are run.

    Args:
        rig: of a checkout of the same repository, in which the tests can run.
    """
    if not commit.tests and not any(one.role == "code" for one in commit.products):
        return HistoryEvidence(files={}, reason=ALL_PASS)
    rig = rig_at(rig, commit.sha, settings=settings, environ=environ)
    patterns = python_patterns(partial(history.text, commit.sha), runner=rig.plan.runner)
    paths = [one.path for one in commit.tests if one.status != "deleted"]
    texts = {path: history.text(commit.sha, path) for path in paths or _neighbours(commit, history, patterns)}
    if paths and not any(text and holds_tests(path, text, patterns) for path, text in texts.items()):
        texts |= {path: history.text(commit.sha, path) for path in _readers(paths, commit, history, patterns)}
    files = {path: text for path, text in texts.items() if text is not None}
    run = tuple(path for path, text in files.items() if holds_tests(path, text, patterns))
    found = HistoryEvidence(files=files, run=run)
    if len(files) < len(texts):
        return _without(found, "a file of its tests is no UTF-8 text")
    if not found.run:
        return _without(found, _NOT_RUN)
    try:
        return _measured(found, commit, history, rig)
    except (ToolchainError, SandboxError) as exc:
        return _without(found, f"its tests cannot be run here: {exc.message}")


def _readers(paths: Sequence[str], commit: HistoryCommit, history: History, patterns: Sequence[str]) -> Iterator[str]:
    """The test files that speak of changed data of the tests, by its name or its folder's as a part of a path in quotes."""
    places = [PurePosixPath(path) for path in paths if language_of(path) is None]
    names = {name for place in places for name in (place.name, place.parent.name) if name}
    spoken = re.compile(rf"['\"`/](?:{'|'.join(sorted(map(re.escape, names)))})['\"`/]") if names else None
    for path in history.files(commit.sha) if spoken is not None else ():
        text = history.text(commit.sha, path) if language_of(path) and is_test_path(path) else None
        if text is not None and spoken is not None and spoken.search(text) and holds_tests(path, text, patterns):
            yield path


def _neighbours(commit: HistoryCommit, history: History, patterns: Sequence[str]) -> list[str]:
    """The test files that speak of the changed code, for a commit that changes no test; the shortest ones."""
    places = [PurePosixPath(one.old_path) for one in commit.products if one.role == "code" and one.old_path]
    stems = [place.parent.name if place.stem in _PACKAGES else place.stem for place in places]
    spoken = re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))})\b") if stems else None
    found = []
    for path in history.files(commit.sha):
        text = history.text(commit.sha, path) if spoken is not None and is_test_path(path) else None
        if text is not None and spoken is not None and spoken.search(text) and holds_tests(path, text, patterns):
            found.append((len(text), path))
    return [path for _, path in sorted(found)[:_MOST_NEIGHBOURS]]


def _measured(found: HistoryEvidence, commit: HistoryCommit, history: History, rig: Rig) -> HistoryEvidence:
    after = run_tree(rig, commit.sha, tests=found.run)
    if not sound(after, rig.plan) or not after.passed_ids:
        return _without(found, f"its tests do not pass at the commit itself: {_said(after)}")
    gone = {one.old_path: None for one in commit.tests if one.old_path and one.old_path not in found.files}
    edits = Edits(files={**gone, **{path: text.encode() for path, text in found.files.items()}})
    before = run_tree(_bounded(rig, after), commit.parent, tests=found.run, edits=edits)
    again = run_tree(rig, commit.sha, tests=found.run, seed=1, repeat=1)
    steady = [name for name in after.passed_ids if name in again.passed_ids]
    passed_before = frozenset(before.passed_ids)
    targets = tuple(name for name in steady if name not in passed_before)
    unsteady = tuple(name for name in after.outcomes if name not in steady)
    failing = _own_that_fail(found, commit, history, unsteady=unsteady, targets=targets)
    if failing:
        return _without(
            found, f"the tests that it adds or changes do not pass at the commit itself: {', '.join(failing)}"
        )
    return HistoryEvidence(
        files=found.files,
        run=found.run,
        targets=targets,
        guards=tuple(name for name in steady if name in passed_before),
        uncounted=unsteady,
        reason="" if targets else ALL_PASS,
    )


def _bounded(rig: Rig, after: SuiteRun) -> Rig:
    """A rig for the state before: what does not end there need not hold everybody for the limit of a suite."""
    limit_s = max(_TEST_LEAST_S, _TEST_FACTOR * after.duration_s)
    return replace(impatient(rig, after.duration_s, tests_s=seconds_of_tests(after)), test_limit_s=limit_s)


def _own_that_fail(
    found: HistoryEvidence, commit: HistoryCommit, history: History, *, unsteady: Sequence[str], targets: Sequence[str]
) -> list[str]:
    """The tests that the commit adds or changes, where some fail at the commit itself and none of them judges it.

    Tests that stand beside them fail before, too, where a language compiles test files together: they say nothing of the change.
    """
    old = {one.path: one.old_path for one in commit.tests}
    own: set[str] = set()
    for path in found.run:
        before = history.text(commit.parent, old.get(path) or path) or ""
        known = dict(test_hashes(path, before.encode()))
        now = test_hashes(path, found.files[path].encode())
        own |= {name.rpartition("::")[2] for name, digest in now if known.get(name) != digest}
    if any(_last_name(one) in own for one in targets):
        return []
    return [one for one in map(_last_name, unsteady) if one in own][:_NAMED]


def _last_name(test_id: str) -> str:
    return test_id.partition("[")[0].rpartition("::")[2].partition("/")[0]  # a subtest of Go belongs to its test


def _without(found: HistoryEvidence, reason: str) -> HistoryEvidence:
    return HistoryEvidence(files=found.files, run=found.run, reason=reason)


def _said(run: SuiteRun) -> str:
    """Why a run is no evidence, in the words of the first failure."""
    if run.timed_out:
        return "they did not end in time"
    if run.complete and not run.outcomes and not run.collection_errors:
        return f"{run.runner} finds no test in them"
    failures = [error.failure.message if error.failure else error.text for error in run.collection_errors]
    failures += [one.failure.message for one in run.outcomes.values() if one.failure is not None and not one.passed]
    said = next(iter([*failures, *run.problems, run.output_tail[-_SHOWN:]]), "") or "the runner does not say why"
    return _one_line(said)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_SHOWN]


def names_of(ids: Sequence[str]) -> list[str]:
    """The names of tests without their files and rows, each once, as a person would list them."""
    return list(dict.fromkeys(name.partition("::")[2].partition("[")[0] or name for name in ids))
