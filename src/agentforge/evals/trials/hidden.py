"""Hidden tests on a delivered commit: a fresh checkout, the sandbox, and the controls of every other test run."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.evals.trials.test_files import holds_tests, python_patterns
from agentforge.suite import Edits, Rig, detect, run_tree, sound
from agentforge.testing.outcome import SuiteRun, file_of
from agentforge.workspace.git.repository import Git
from agentforge.workspace.sandbox.box import choose

_TIME_LIMIT_S = 120.0


def hidden_failures(
    repo: Path,
    commit: str,
    hidden: Mapping[str, str],
    *,
    settings: Settings,
    environ: Mapping[str, str],
    uncounted: Collection[str] = (),
    base: str = "",
) -> tuple[str, ...]:
    """Run the hidden tests on a commit.

    Args:
        hidden: path -> text; the files replace those of the checkout, those that hold tests are run.
        base: the commit that the delivery began at. The delivery's own tests stand as they were there while it is judged: in a
            package of Go they would define the names of the hidden ones a second time. "" = they stay.
        uncounted: ids of tests whose outcome does not matter.
    Returns:
        What keeps them from passing, () when every one of them was run and passed.
    Raises:
        ToolchainError: tests cannot be run here at all.
    Side effects: makes and removes a fresh checkout outside of the repository.
    """
    with tempfile.TemporaryDirectory(prefix="agentforge-hidden-") as scratch:
        rig = rig_of(repo, Path(scratch), settings=settings, environ=environ)
        return failures_by(rig, commit, hidden, uncounted=uncounted, base=base)


def failures_by(
    rig: Rig, commit: str, hidden: Mapping[str, str], *, uncounted: Collection[str] = (), base: str = ""
) -> tuple[str, ...]:
    """Run the hidden tests on a commit, as `hidden_failures` does, by a rig that is there."""
    patterns = python_patterns(partial(_text_at, rig.git, commit), runner=rig.plan.runner)
    tests = [path for path, text in hidden.items() if holds_tests(path, text, patterns)]
    own = _own_tests(rig.git, base, commit) if base else {}
    edits = Edits(files={**own, **{path: text.encode() for path, text in hidden.items()}})
    run = run_tree(rig, rig.git.tree_of(commit), tests=tests, edits=edits, protected=tests)
    problems = list(_failures(run, {path: hidden[path] for path in tests}, frozenset(uncounted)))
    if not problems and not sound(run, rig.plan):
        problems = [f"the test run is no evidence: {'; '.join(run.problems) or 'a control did not hold'}"]
    return tuple(problems)


def _own_tests(git: Git, base: str, commit: str) -> dict[str, bytes | None]:
    """The files of tests that a delivery added or changed, as they were before it; None = it was not there."""
    found = {}
    for path in (one.path for one in git.changed(base, commit)):
        now = git.show(commit, path)
        if now is not None and holds_tests(path, now.decode("utf-8", "replace")):
            found[path] = git.show(base, path)
    return found


def rig_of(repo: Path, scratch: Path, *, settings: Settings, environ: Mapping[str, str]) -> Rig:
    """What a run of a repository's tests needs, as a task of it would have it.

    Raises:
        ToolchainError, SandboxError: tests cannot be run here at all.
    """
    git = Git.open(repo)
    plan = detect(git.top, settings=settings.table("test"), environ=environ)
    hidden = (data_dir(environ), *settings.folders("sandbox.hidden"))
    sandbox = choose(settings.text("sandbox.kind", "auto"), environ, hidden=hidden)  # type: ignore[arg-type] # checked by the settings
    limit = max(_TIME_LIMIT_S, plan.timeout_s)
    return Rig(plan=plan, git=git, mount_at=git.top, sandbox=sandbox, scratch=scratch, timeout_s=limit)


def rig_at(rig: Rig, rev: str, *, settings: Settings, environ: Mapping[str, str]) -> Rig:
    """The same rig with the plan that a commit's own tree has; what is installed stays that of the user's checkout.

    Side effects: checks the tree out below the rig's scratch folder, and removes it.
    """
    chosen = {"python": rig.plan.interpreter} if rig.plan.interpreter else {}
    with tempfile.TemporaryDirectory(prefix="plan-", dir=rig.scratch) as draft:
        folder = Path(draft) / "tree"
        rig.git.materialise(rig.git.tree_of(rev), folder)
        for name in rig.plan.environments:
            link = folder / name
            if not link.exists() and not link.is_symlink():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(rig.mount_at / name)
        plan = detect(folder, settings={**chosen, **settings.table("test")}, environ=environ)
    return replace(rig, plan=replace(plan, environments=rig.plan.environments))


def _text_at(git: Git, commit: str, path: str) -> str | None:
    data = git.show(commit, path)
    return None if data is None else data.decode("utf-8", "replace")


def _failures(run: SuiteRun, hidden: Mapping[str, str], uncounted: frozenset[str]) -> Iterator[str]:
    heard = {file_of(name) for name in run.outcomes}
    unheard = any(path not in heard for path in hidden)
    errors = [one for one in run.collection_errors if unheard or file_of(one.id) in hidden]
    for error in errors:  # of other files, where every hidden one was heard, they are not this commit's
        said = error.failure.message if error.failure else error.text
        yield f"{error.id} cannot be collected: {said.strip()[:200]}"
    for name, one in run.outcomes.items():
        if not one.passed and name not in uncounted:
            yield f"{name} {one.outcome}{': ' + one.failure.message[:200] if one.failure else ''}"
    if run.timed_out:
        yield "the hidden tests did not end in time"
    ran = {name.partition("[")[0] for name in (*run.outcomes, *uncounted)}
    for path, text in hidden.items():
        missing = [] if run.timed_out or errors else sorted({ids[0] for ids in _wanted(path, text) if not ran & {*ids}})
        yield from (f"{name} was not run" for name in missing)


def _wanted(path: str, text: str) -> Iterator[tuple[str, ...]]:
    """The tests that stand in a file, each with every id under which it may run: its own first, then those of subclasses.

    Tests that a class inherits are left to the run; those of a class that no runner collects belong to its subclasses.
    """
    if not path.endswith(".py"):
        return
    body = ast.parse(text).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield (f"{path}::{node.name}",)
        if isinstance(node, ast.ClassDef) and _is_collected(node, classes):
            owners = [node.name, *(name for name in classes if node.name in _ancestors(name, classes))]
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and one.name.startswith("test"):
                    yield tuple(f"{path}::{owner}::{one.name}" for owner in owners)


def _is_collected(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> bool:
    """Whether a runner may take a class for tests: by its name, or for a base that stands elsewhere and can be a test case."""
    return node.name.startswith("Test") or bool(_ancestors(node.name, classes) - {"object", *classes})


def _ancestors(name: str, classes: Mapping[str, ast.ClassDef]) -> set[str]:
    """The names of all classes that a class of the file inherits from; those of other files end the way."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        node = classes.get(ahead.pop())
        bases = {ast.unparse(base) for base in node.bases} - found if node is not None else set()
        found |= bases
        ahead += bases
    return found
