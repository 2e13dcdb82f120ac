"""Finds how the tests of a Ruby project are run: minitest by ruby itself, where the tests say so."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from agentforge.languages.language import ProjectFiles
from agentforge.testing.plan import TestPlan

_READ_FILES, _READ_BYTES = 50, 20_000
_COMMAND = ("ruby", "-Ilib", "-Itest")


def is_ruby_test(path: str) -> bool:
    """Whether a repository path looks like a file of minitest's: below test/ or spec/, by its name."""
    stem, dot, suffix = PurePosixPath(path).name.rpartition(".")
    folder = PurePosixPath(path).parts[0] in ("test", "tests", "spec")
    named = stem.startswith("test_") or stem.endswith(("_test", "_spec"))
    return bool(dot) and suffix == "rb" and named and folder


def find_ruby(project: ProjectFiles) -> TestPlan | None:
    """The plan of a project with minitest's tests, or with a Ruby build file and no tests yet; None for any other."""
    tests = [name for name in project.names if is_ruby_test(name)]
    by = next((name for name in _speaking(project, tests) if _mentions_minitest(project, name)), "")
    manifest = project.holds("Gemfile", "Rakefile") or next(
        (one for one in project.names if one.endswith(".gemspec")), ""
    )
    if not by and (tests or not manifest or ".rspec" in project.names):
        return None
    source = f"detected: minitest via {by}" if by else f"no tests yet; minitest is there for new ones ({manifest})"
    return _plan(project, source)


def plan_of_ruby_words(project: ProjectFiles, command: Sequence[str]) -> TestPlan | None:
    """The plan of a command that starts minitest's tests (`rake test`, `bundle exec rake`); None for any other."""
    words = list(command[2:] if tuple(command[:2]) == ("bundle", "exec") else command)
    if words not in (["rake"], ["rake", "test"]):
        return None
    plan = find_ruby(project)
    return replace(plan, command=tuple(command)) if plan is not None else None


def _speaking(project: ProjectFiles, tests: Sequence[str]) -> list[str]:
    helpers = [
        name for name in ("test/test_helper.rb", "test/helper.rb", "spec/spec_helper.rb") if name in project.names
    ]
    return [*helpers, *tests[:_READ_FILES], *([project.holds("Gemfile")] if project.holds("Gemfile") else [])]


def _mentions_minitest(project: ProjectFiles, name: str) -> bool:
    try:
        text = (project.repo / name).read_bytes()[:_READ_BYTES]
    except OSError:
        return False
    return b"minitest" in text or b"Minitest" in text


def _plan(project: ProjectFiles, source: str) -> TestPlan:
    there = shutil.which("ruby", path=project.environ.get("PATH")) is not None
    return TestPlan(
        runner="minitest" if there else "none",
        command=_COMMAND,
        language="ruby",
        source=source,
        problems=() if there else ("ruby is not on PATH; install Ruby and minitest",),
        **project.base,
    )
