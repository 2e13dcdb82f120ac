"""What every measurement needs, and one run of one tree in a fresh checkout."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_bytes, digest_value
from agentforge.languages.catalogue import is_compiled
from agentforge.languages.language import RunOptions
from agentforge.suite.execution import run_suite
from agentforge.suite.used_checkouts import shelf_of
from agentforge.testing.cache import ResultCache
from agentforge.testing.coverage import TRACE_VERSION
from agentforge.testing.launch import remove
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan, plan_digest
from agentforge.workspace.git.repository import Git
from agentforge.workspace.sandbox.box import Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """The fixed part of all measurements of one task.

    Attributes:
        mount_at: the user's repository; the sandbox shows a checkout there.
        scratch: a folder of ours for checkouts; not below `mount_at`.
        timeout_s: limit of one run of the suite.
        built: a folder in which what was compiled is kept between runs that come one after the other; None = none. What is
            measured to judge a tree compiles everything anew.
        left: a folder in which tasks leave large checkouts for each other; None = nothing is left.
        usual_s: how long the whole suite took at the base, for those who wait; 0 = not known.
        tests_s: limit of the tests of one run once they are built, where a runner builds them first; 0 = `timeout_s`. No test
            gets more than half of what is left of it, so that one that loops for ever takes no result from those behind it.
        test_limit_s: limit of one test, 0 = none; what is stopped by it has failed, and the run goes on. Python's runners only.
        cache: None measures everything anew.
    """

    plan: TestPlan
    git: Git
    mount_at: Path
    sandbox: Sandbox
    scratch: Path
    timeout_s: float
    cache: ResultCache | None = None
    test_limit_s: float = 0.0
    built: Path | None = None
    left: Path | None = None
    usual_s: float = 0.0
    tests_s: float = 0.0

    @property
    def confinement(self) -> str:
        """What the result of a run depends on: the sandbox, and what the network lets through."""
        return f"{self.sandbox.kind} {self.sandbox.network}"

    def read(self, tree: str) -> Callable[[str], bytes | None]:
        """Read repository paths at a tree."""
        return lambda path: self.git.show(tree, path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What differs between a tree and the checkout that is run.

    Attributes:
        files: path -> content; None removes the file.
    """

    files: Mapping[str, bytes | None]

    def apply(self, folder: Path) -> None:
        """Write the edits into a checkout."""
        for path, data in self.files.items():
            file = folder / path
            if file.is_symlink() or file.is_file():
                file.unlink()
            if data is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)

    @property
    def digest(self) -> str:
        """Name the edits by their content."""
        return digest_value({path: None if data is None else digest_bytes(data) for path, data in self.files.items()})


NO_EDITS = Edits(files={})
_TRIES = 2  # what the machine killed is measured again, and is nobody's fault


def run_tree(
    rig: Rig,
    tree: str,
    *,
    tests: Sequence[str] = (),
    seed: int | None = None,
    edits: Edits = NO_EDITS,
    protected: Sequence[str] = (),
    repeat: int = 0,
    trace: bool = False,
    traced_files: Sequence[str] = (),
    calls: bool = False,
) -> SuiteRun:
    """Run the suite, or the named tests of it, in a fresh checkout of a tree.

    Args:
        protected: paths that must be the same after the run as before; a changed one makes the run incomplete.
        repeat: number of this run among equal ones; a cached result answers for the same number only.
        trace: record what each test executes, where the runner can.
        traced_files: the only files of which that is recorded, () = all; a few files cost the tests much less time.
        calls: write down calls of functions in these files, too, which costs every call of the tests some time.
    """
    key: dict[str, object] = {
        "tree": tree, "plan": plan_digest(rig.plan), "tests": sorted(tests), "seed": seed, "edits": edits.digest,
        "protected": sorted(protected), "repeat": repeat, "sandbox": rig.confinement, "at": str(rig.mount_at),
    }  # fmt: skip
    if trace:
        key["trace"] = [TRACE_VERSION, *sorted(traced_files)] if traced_files else TRACE_VERSION
        key |= {"calls": True} if calls else {}
    if rig.built is not None:
        key["built"] = "kept"
    if rig.test_limit_s:
        key["test_limit"] = rig.test_limit_s
    known = rig.cache.get(key) if rig.cache is not None else None
    if known is not None:
        return known
    ask = RunOptions(
        timeout_s=rig.timeout_s, tests=tests, seed=seed, trace=trace, traced_files=tuple(traced_files), calls=calls,
        test_limit_s=rig.test_limit_s, tests_s=rig.tests_s,
    )  # fmt: skip
    for _ in range(_TRIES):
        run, altered = _once(rig, tree, ask, edits=edits, protected=protected)
        if not run.killed:
            break
    if altered:
        problem = f"the run changed protected files: {', '.join(altered[:5])}"
        run = replace(run, complete=False, problems=(*run.problems, problem))
    if rig.cache is not None and not run.killed:
        rig.cache.put(key, run)
    return run


def _once(
    rig: Rig, tree: str, ask: RunOptions, *, edits: Edits, protected: Sequence[str]
) -> tuple[SuiteRun, list[str]]:
    """One run in a checkout of its own, and the protected paths that it changed."""
    with fresh_checkout(rig, tree) as checkout:
        edits.apply(checkout)
        before = _bytes(checkout, protected)
        run = run_suite(
            rig.plan,
            ask,
            checkout=checkout,
            mount_at=rig.mount_at,
            sandbox=rig.sandbox,
            scratch=rig.scratch,
            protected=tuple(protected),
            built=rig.built,
        )
        after = _bytes(checkout, protected)
    return run, sorted(path for path, data in before.items() if after[path] != data)


@contextmanager
def fresh_checkout(rig: Rig, tree: str) -> Iterator[Path]:
    """Check a tree out from git objects into a new folder, and remove it afterwards.

    Of a large repository what no run has touched is moved to the next checkout, where nothing of a run can go on beside it.
    """
    rig.scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="checkout-", dir=rig.scratch))
    shelf = shelf_of(rig.scratch, rig.left) if rig.sandbox.kind == "bubblewrap" else None
    used = None
    try:
        if shelf is None:
            rig.git.materialise(tree, folder / "tree")
        else:
            used = shelf.check_out(rig.git, tree, folder)
        yield folder / "tree"
    finally:
        if shelf is None or used is None or not shelf.put_back(used):
            remove(folder)


def sound(run: SuiteRun, plan: TestPlan) -> bool:
    """Whether a run is evidence: it ended by itself, and every control that its runner can have has held."""
    if not run.complete or run.timed_out:
        return False
    unbuilt = is_compiled(plan) and bool(run.collection_errors) and not run.outcomes
    if plan.has_canary and run.canary != "held" and not unbuilt:  # what the compiler refuses has run nothing
        return False
    return run.agree is True if plan.has_second_channel else True


def controls(run: SuiteRun, plan: TestPlan) -> dict[str, Any]:
    """The controls of a run as facts."""
    return {
        "canary": run.canary, "complete": run.complete, "agree": run.agree, "timed_out": run.timed_out,
        "held": sound(run, plan),
    }  # fmt: skip


def _bytes(folder: Path, paths: Sequence[str]) -> dict[str, bytes | None]:
    return {path: (folder / path).read_bytes() if (folder / path).is_file() else None for path in paths}
