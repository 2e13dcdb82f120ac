"""Hidden tests run on the commit, in the sandbox, and every one of them counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.config.settings import load
from agentforge.evals.trials.hidden import _names, hidden_failures
from agentforge.workspace.git.newrepo import init_repository

HIDDEN = {
    "tests/test_hidden.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_more():\n    assert add(2, 2) == 4\n"
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    (place / "tests").mkdir(parents=True)
    (place / "tests" / "test_calc.py").write_text("import calc\n\n\ndef test_it_is_there():\n    assert calc\n")
    (place / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    return place


def _judged(repo: Path) -> tuple[str, ...]:
    init_repository(repo, message="base")
    environ = {**os.environ, "AGENTFORGE_HOME": str(repo.parent / "home")}
    settings = load(
        repo, environ, flags={"test.python": sys.executable, "test.env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}}
    )
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repo, capture_output=True, text=True, check=True
    ).stdout.strip()
    return hidden_failures(repo, commit, HIDDEN, settings=settings, environ=environ)


def test_a_right_commit_passes_and_is_left_as_it_is(repo: Path) -> None:
    assert _judged(repo) == ()
    assert not (repo / "tests" / "test_hidden.py").exists()


def test_a_wrong_commit_is_told_test_by_test(repo: Path) -> None:
    (repo / "calc.py").write_text("def add(a, b):\n    return a * b\n")
    (failure,) = _judged(repo)
    assert failure.startswith("tests/test_hidden.py::test_add failed")


def test_a_commit_that_ends_the_tests_early_does_not_pass(repo: Path) -> None:
    (repo / "calc.py").write_text("import os\n\n\ndef add(a, b):\n    os._exit(0)\n")
    assert _judged(repo) != ()


def test_a_class_that_no_runner_collects_has_no_test_that_must_run() -> None:
    text = (
        "import unittest\n\n\nclass Shared(object):\n    def test_a(self): ...\n\n\n"
        "class OfAll(Shared, unittest.TestCase):\n    def test_b(self): ...\n\n\nclass TestC:\n    def test_c(self): ...\n"
    )
    assert list(_names("test_x.py", text)) == ["test_x.py::OfAll::test_b", "test_x.py::TestC::test_c"]
