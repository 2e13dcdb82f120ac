"""Hidden tests on a delivered commit: a fresh checkout, the sandbox, and the controls of every other test run."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.config.settings import Settings
    from agentforge.runners.outcome import SuiteRun

_TIME_LIMIT_S = 120.0


def hidden_failures(
    repo: Path, commit: str, hidden: Mapping[str, str], *, settings: Settings, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Run the hidden tests on a commit.

    Args:
        hidden: path -> text; the files replace those of the checkout, files named test_* or *_test are run.
    Returns:
        What keeps them from passing, () when every one of them was run and passed.
    Raises:
        ToolchainError: tests cannot be run here at all.
    Side effects: makes and removes a fresh checkout outside of the repository.
    """
    from agentforge.config.paths import data_dir
    from agentforge.runners.detection import detect
    from agentforge.runners.rig import Edits, Rig, run_tree, sound
    from agentforge.workspace.git import Git
    from agentforge.workspace.sandbox import choose

    git = Git.open(repo)
    plan = detect(git.top, settings=settings.table("test"), environ=environ)
    sandbox = choose(settings.text("sandbox.kind", "auto"), environ, hidden=(data_dir(environ),))  # type: ignore[arg-type] # checked by the settings
    tests = [path for path in hidden if is_test_file(path)]
    with tempfile.TemporaryDirectory(prefix="agentforge-hidden-") as scratch:
        rig = Rig(plan=plan, git=git, mount_at=git.top, sandbox=sandbox, scratch=Path(scratch), timeout_s=_TIME_LIMIT_S)
        edits = Edits(files={path: text.encode() for path, text in hidden.items()})
        run = run_tree(rig, git.tree_of(commit), tests=tests, edits=edits, protected=tests)
    problems = list(_failures(run, hidden))
    if not problems and not sound(run, plan):
        problems = [f"the test run is no evidence: {'; '.join(run.problems) or 'a control did not hold'}"]
    return tuple(problems)


def is_test_file(path: str) -> bool:
    """Whether pytest collects the file by its name."""
    name = PurePosixPath(path)
    return name.suffix == ".py" and (name.stem.startswith("test_") or name.stem.endswith("_test"))


def _failures(run: SuiteRun, hidden: Mapping[str, str]) -> Iterator[str]:
    for error in run.collection_errors:
        said = error.failure.message if error.failure else error.text
        yield f"{error.id} cannot be collected: {said.strip()[:200]}"
    for name, one in run.outcomes.items():
        if not one.passed:
            yield f"{name} {one.outcome}{': ' + one.failure.message[:200] if one.failure else ''}"
    if run.timed_out:
        yield "the hidden tests did not end in time"
    ran = {name.partition("[")[0] for name in run.outcomes}
    for path, text in hidden.items():
        missing = [] if run.timed_out or run.collection_errors else sorted(set(_names(path, text)) - ran)
        yield from (f"{name} was not run" for name in missing)


def _names(path: str, text: str) -> Iterator[str]:
    """The ids of the test functions that stand in a file; those that a class inherits are left to the run."""
    if not is_test_file(path):
        return
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield f"{path}::{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from (
                f"{path}::{node.name}::{one.name}"
                for one in node.body
                if isinstance(one, ast.FunctionDef) and one.name.startswith("test")
            )
