"""The use case `refactor`: a change by syntax tree, planned over a tree of git, tested there, and applied or delivered."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from agentforge.app.composition.run_inputs import base_commit
from agentforge.app.tasks.start_options import StartOptions
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.errors import ConflictError, UsageError, VerificationFailed
from agentforge.frozen import dataclass
from agentforge.python_refactoring import (
    Open,
    RefactoringPlan,
    RefactoringRequest,
    Unclear,
    contents,
    diff_of,
    plan_of,
    read_project,
)
from agentforge.suite import Edits, Rig, detect, run_tree
from agentforge.testing.outcome import without_parameters
from agentforge.testing.plan import TestPlan
from agentforge.workspace.git.repository import Git
from agentforge.workspace.sandbox.box import Preference, choose

_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Refactoring:
    """A planned change.

    Attributes:
        tree: the commit or tree over which it was planned.
        tests: how the project's tests are run.
        wanted: with the place of the definition, so that it is no longer ambiguous.
    """

    git: Git
    tree: str
    tests: TestPlan
    wanted: RefactoringRequest
    plan: RefactoringPlan

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        return diff_of(self.plan, self._read)

    @property
    def files(self) -> dict[str, bytes | None]:
        """The new bytes by path; None = the file goes."""
        return contents(self.plan, self._read)

    def _read(self, path: str) -> bytes | None:
        return self.git.show(self.tree, path)

    def value(self) -> dict[str, object]:
        """As JSON: what is done, where, and the diff."""
        return {
            "refactoring": self.wanted.value(),
            "told": self.plan.told,
            "files": sorted(self.plan.files),
            "tests_removed": list(self.plan.ended),
            "diff": self.diff,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """What the suite said before and after a change.

    Attributes:
        passed: tests that pass afterwards; 0 and no `failing` = the project has none that can be run.
        failing: tests that failed before and fail afterwards.
        problems: why the suite could not be run, () it could.
    """

    passed: int
    failing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def value(self) -> dict[str, object]:
        """As JSON."""
        return {"passed": self.passed, "failing_before_and_after": list(self.failing), "problems": list(self.problems)}


def planned(
    wanted: RefactoringRequest,
    start: StartOptions,
    *,
    as_they_are: bool,
    settings: Settings,
    environ: Mapping[str, str],
) -> Refactoring:
    """Plan a change over the base commit, or over the files of the checkout as they are.

    Raises:
        UsageError: the project has no such code, several definitions are meant equally, or the tree alone cannot tell.
    """
    git = Git.open(start.cwd)
    if as_they_are:
        data_dir(environ).mkdir(parents=True, exist_ok=True)
        tree = git.dirty_snapshot(data_dir(environ) / f"refactor-{git.head()[:12]}.index")
    else:
        tree = base_commit(start, git, data=data_dir(environ))
    tests = detect(git.top, settings=settings.table("test"), environ=environ)
    project = read_project(git.list_files(tree), lambda path: git.show(tree, path), roots=tests.roots)
    try:
        plan = plan_of(project, wanted)
    except Open as exc:
        raise UsageError(str(exc), hint=f"name one with --in: {'; '.join(exc.choices)}") from exc
    except Unclear as exc:
        raise UsageError(f"nothing was changed: {exc}", hint="change it by hand, or ask for it in words") from exc
    if plan is None:
        names = ", ".join(wanted.names)
        raise UsageError(
            f"{names} is not Python code of this project", hint="name it as it is defined: name, Class.name"
        )
    first = plan.targets[0]
    placed = replace(wanted, place=first.source.path) if first.name and wanted.names == (first.name,) else wanted
    return Refactoring(git=git, tree=tree, tests=tests, wanted=placed, plan=plan)


def as_task(change: Refactoring, start: StartOptions) -> StartOptions:
    """The options of a run that delivers the change as a verified branch."""
    base = None if start.include_dirty else change.tree
    return replace(start, request=change.wanted.sentence, base=base, refactoring=change.wanted.value())


def tested(change: Refactoring, *, settings: Settings) -> TestResult:
    """Run the suite without and with the change, each in a fresh checkout.

    Raises:
        VerificationFailed: a test that passed no longer does; the message names it.
    """
    if change.tests.runner == "none":
        return TestResult(passed=0, problems=change.tests.problems or ("the project has no tests",))
    with tempfile.TemporaryDirectory(prefix="agentforge-refactor-") as folder:
        rig = Rig(
            plan=change.tests,
            git=change.git,
            mount_at=change.git.top,
            sandbox=choose(
                cast("Preference", settings.text("sandbox.kind", "auto")), hidden=settings.folders("sandbox.hidden")
            ),
            scratch=Path(folder),
            timeout_s=change.tests.timeout_s,
        )
        tree = change.git.tree_of(change.tree)
        before = run_tree(rig, tree)
        after = run_tree(rig, tree, edits=Edits(files=change.files))
    ended = set(change.plan.ended)
    lost = sorted(one for one in before.passed_ids if one not in set(after.passed_ids) and not _is_of(one, ended))
    if lost:
        more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
        raise VerificationFailed(
            f"nothing was changed: with it these tests no longer pass: {', '.join(lost[:_SHOWN])}{more}",
            hint="look at the diff with --dry-run; what the tests reach by a text or by getattr has to be changed by hand",
        )
    return TestResult(passed=len(after.passed_ids), failing=after.failing_ids, problems=before.problems)


def _is_of(nodeid: str, ended: set[str]) -> bool:
    """Whether a test is one that goes with what is deleted, its parameters apart."""
    return without_parameters(nodeid) in ended


def apply(change: Refactoring) -> None:
    """Write the change into the checkout; nothing is staged or committed.

    Raises:
        ConflictError: a file was changed since the plan was made.
    """
    files, top = change.files, change.git.top
    for path in files:
        file = top / path
        now = file.read_bytes() if file.is_file() else None
        if now != change.git.show(change.tree, path):
            raise ConflictError(f"{path} was changed in the meantime; nothing was written", hint="run it again")
    for path, data in files.items():
        file = top / path
        if data is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
