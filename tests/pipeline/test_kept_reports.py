"""What the checks said of a tree is asked once for all tasks of a repository, as long as nothing else can change it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.conformance import CheckReport, surroundings
from agentforge.pipeline.facts.conformance_facts import reports
from agentforge.pipeline.model.runtime import Runtime
from agentforge.suite import Rig
from agentforge.testing.cache import ResultCache
from agentforge.testing.plan import TestPlan
from agentforge.workspace.sandbox.box import Sandbox, choose
from tests.pipeline.conftest import git_call
from tests.support.stage_states import before

Make = Callable[..., Runtime]
BAD = "import os\n\n\ndef whisper(text):\n    return undefined_name\n"


@dataclass
class Counting:
    """A sandbox that counts which programs it was asked to run."""

    inner: Sandbox = field(default_factory=lambda: choose("none"))
    programs: list[str] = field(default_factory=list)

    def run(self, argv: Sequence[str], **rest: Any) -> Any:
        self.programs.append(Path(argv[0]).name)
        return self.inner.run(argv, **rest)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Tasks:
    """One task after the other on the same repository, whose change is the same."""

    def __init__(self, runtime: Runtime, results: Path, files: dict[str, str]) -> None:
        self._runtime, self._cache = runtime, ResultCache(results)
        self.state = before("spec", base_commit=runtime.git.head())
        for name, text in files.items():
            (runtime.repo / name).write_text(text)
        git_call(runtime.repo, "add", "-A")
        git_call(runtime.repo, "commit", "-q", "-m", "change")
        self.base, self.tree = (runtime.git.tree_of(one) for one in ("HEAD~1", "HEAD"))

    def ask(self, *paths: str, **changes: Any) -> tuple[tuple[CheckReport, CheckReport], list[str]]:
        """What a new task is told, and the programs that were run for it."""
        sandbox = Counting()
        rig = Rig(
            plan=TestPlan(runner="pytest", interpreter=sys.executable), git=self._runtime.git, mount_at=self._runtime.repo,
            sandbox=sandbox, scratch=self._runtime.scratch, timeout_s=60, cache=self._cache,
        )  # fmt: skip
        task = replace(self._runtime, sandbox=sandbox, rig=lambda: rig, check_reports={}, **changes)
        told = reports(self.state, task, base=self.base, tree=self.tree, paths=list(paths or ("kit/text.py",)))
        return told, sandbox.programs


@pytest.fixture
def tasks(runtime: Make, tmp_path: Path) -> Callable[..., Tasks]:
    """Make tasks that change files of the repository."""
    return lambda **files: Tasks(runtime(), tmp_path / "results", {"kit/text.py": BAD, **files.pop("files", {})})


def test_the_same_trees_are_looked_at_once_for_all_tasks(tasks: Callable[..., Tasks]) -> None:
    made = tasks()
    told, programs = made.ask()
    assert {"ruff", "ty"} <= set(programs)
    assert {one.rule_id for one in told[1].findings if one.counts} == {"F821", "unresolved-reference"}
    assert made.ask() == (told, [])


@pytest.mark.parametrize("paths", [("kit/__init__.py",), ("kit/text.py", "kit/macro.xyz")])
def test_other_files_are_looked_at(tasks: Callable[..., Tasks], paths: tuple[str, ...]) -> None:
    made = tasks()
    made.ask()
    assert made.ask(*paths)[1]


@pytest.mark.parametrize(("checks", "run"), [({"disable": ["ty"]}, "ruff"), ({"commands": ["true"]}, "bash")])
def test_other_settings_are_another_question(tasks: Callable[..., Tasks], checks: dict[str, Any], run: str) -> None:
    made = tasks()
    made.ask()
    assert run in made.ask(checks=checks)[1]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"pyproject.toml": "[tool.mypy]\nstrict = true\n"}, id="a checker of the project"),
        pytest.param({"ruff.toml": 'extend = "../ruff.toml"\n'}, id="a configuration outside of the repository"),
    ],
)
def test_what_more_than_the_tree_decides_is_asked_every_time(
    runtime: Make, tmp_path: Path, files: dict[str, str]
) -> None:
    made = runtime()
    for name, text in files.items():
        (made.repo / name).write_text(text)
    (tmp_path / "ruff.toml").write_text("")
    git_call(made.repo, "add", "-A")
    git_call(made.repo, "commit", "-q", "-m", "configured")
    later = Tasks(made, tmp_path / "results", {"kit/text.py": BAD})
    later.ask()
    assert "ruff" in later.ask()[1]


def test_a_report_that_was_altered_is_not_believed(tasks: Callable[..., Tasks], tmp_path: Path) -> None:
    made = tasks()
    told = made.ask()[0]
    for file in (tmp_path / "results").rglob("*.json"):
        value = json.loads(file.read_bytes())
        value["run"]["report"]["findings"] = []
        file.write_text(json.dumps(value))
    assert made.ask()[0] == told


def test_a_package_that_comes_or_goes_changes_the_surroundings(tmp_path: Path) -> None:
    packages = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    python = str(tmp_path / "env" / "bin" / "python")
    assert surroundings(python) == surroundings(None) == []
    (tmp_path / "env" / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    known = surroundings(python)
    assert known and known == surroundings(python)
    (packages / "new").mkdir()
    assert surroundings(python) != known
