"""Hidden tests run on the commit, in the sandbox, and every one of them counts."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path

import pytest

from agentforge.app.composition.assembly import sandbox_of
from agentforge.config.settings import load
from agentforge.evals.trials.hidden import _failures, _wanted, hidden_failures, rig_of
from agentforge.evals.trials.play import lend
from agentforge.testing.outcome import CollectionError, SuiteRun, TestOutcome
from agentforge.workspace.git.newrepo import init_repository

HIDDEN = {
    "tests/test_hidden.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_more():\n    assert add(2, 2) == 4\n"
}
_UNITTEST = """import unittest
from calc import add


class AddTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    (place / "tests").mkdir(parents=True)
    (place / "tests" / "test_calc.py").write_text("import calc\n\n\ndef test_it_is_there():\n    assert calc\n")
    (place / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    return place


def _judged(repo: Path, hidden: dict[str, str] = HIDDEN) -> tuple[str, ...]:
    init_repository(repo, message="base")
    environ = {**os.environ, "AGENTFORGE_HOME": str(repo.parent / "home")}
    settings = load(
        repo, environ, flags={"test.python": sys.executable, "test.env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}}
    )
    return hidden_failures(repo, _head(repo), hidden, settings=settings, environ=environ)


def _head(repo: Path) -> str:
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, capture_output=True, text=True, check=True)
    return told.stdout.strip()


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


@pytest.mark.parametrize(("heard", "counted"), [(True, 0), (False, 1)])
def test_what_cannot_be_collected_beside_the_hidden_files_counts_only_while_one_of_them_was_not_heard(
    heard: bool, counted: int
) -> None:
    passed = [TestOutcome(id="tests/test_hidden.py::test_add", outcome="passed")] if heard else []
    run = SuiteRun(
        runner="pytest",
        outcomes={one.id: one for one in passed},
        collection_errors=(CollectionError(id="tests/of_another_package.py", text="No module named django"),),
    )
    told = list(_failures(run, HIDDEN, frozenset(["tests/test_hidden.py::test_more"])))
    assert sum(one.startswith("tests/of_another_package.py") for one in told) == counted


def test_a_hidden_file_that_cannot_be_collected_counts(repo: Path) -> None:
    hidden = {"tests/test_hidden.py": f"from calc import subtract\n{_UNITTEST}"}
    (failure,) = _judged(repo, hidden)
    assert failure.startswith("tests/test_hidden.py cannot be collected")


@pytest.mark.needs("go")
def test_a_delivery_whose_own_tests_bear_the_names_of_the_hidden_ones_is_judged_by_those(tmp_path: Path) -> None:
    repo, test = (
        tmp_path / "repo",
        'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n',
    )
    repo.mkdir()
    (repo / "go.mod").write_text("module calc\n\ngo 1.19\n")
    (repo / "calc.go").write_text("package calc\n")
    (repo / "old_test.go").write_text('package calc\n\nimport "testing"\n\nfunc TestOld(t *testing.T) {}\n')
    init_repository(repo, message="base")
    base = _head(repo)
    (repo / "calc.go").write_text("package calc\n\nfunc Add(a, b int) int { return a + b }\n")
    (repo / "add_test.go").write_text(test)
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-qm", "add"], cwd=repo, check=True
    )
    environ = {**os.environ, "AGENTFORGE_HOME": str(tmp_path / "home")}
    settings = load(repo, environ)
    judged = partial(hidden_failures, repo, _head(repo), {"calc_test.go": test}, settings=settings, environ=environ)
    assert "redeclared" in judged()[0]
    assert judged(base=base) == ()


def test_a_class_that_no_runner_collects_has_no_test_that_must_run() -> None:
    text = (
        "import unittest\n\n\nclass Shared(object):\n    def test_a(self): ...\n\n\n"
        "class OfAll(Shared, unittest.TestCase):\n    def test_b(self): ...\n\n\nclass TestC:\n    def test_c(self): ...\n"
    )
    assert list(_wanted("test_x.py", text)) == [("test_x.py::OfAll::test_b",), ("test_x.py::TestC::test_c",)]


_MIXINS = """import unittest
from calc import add


class Base(object):
    def test_zero(self):
        self.assertEqual(self.added(0, 0), 0)


class Mixin(Base):
    def test_add(self):
        self.assertEqual(self.added(1, 2), 3)


class Case(unittest.TestCase):
    __test__ = False

    def test_more(self):
        self.assertEqual(self.added(2, 2), 4)


class Ways(Mixin, Case):
    __test__ = True

    def added(self, *parts):
        return add(*parts)
"""


def test_tests_of_a_mixin_count_where_its_subclasses_run_them(repo: Path) -> None:
    assert _judged(repo, {"tests/test_hidden.py": _MIXINS}) == ()


def test_tests_of_a_mixin_without_a_subclass_that_runs_them_are_missed(repo: Path) -> None:
    hidden = {
        "tests/test_hidden.py": _MIXINS.replace("__test__ = True", "__test__ = False") + HIDDEN["tests/test_hidden.py"]
    }
    assert _judged(repo, hidden) == ("tests/test_hidden.py::Case::test_more was not run",)


def test_the_repository_that_lends_its_environment_is_out_of_sight(repo: Path, tmp_path: Path) -> None:
    """An installation may lead to its files, which are newer than those that are played."""
    source, environ = tmp_path / "source", {"HOME": str(tmp_path)}
    (source / ".agentforge").mkdir(parents=True)
    (source / ".agentforge" / "config.toml").write_text("[sandbox]\nhidden = ['/srv/own']\n")
    init_repository(source, message="base")
    init_repository(repo, message="base")
    lent = lend(source, repo, settings=load(source, environ), environ=environ)
    settings = load(repo, environ, flags=lent)
    rig = rig_of(repo, tmp_path / "scratch", settings=settings, environ=environ)
    for sandbox in (sandbox_of(settings, hidden=(), environ=environ), rig.sandbox):
        assert {source, Path("/srv/own")} <= set(getattr(sandbox, "hidden", ()))


def test_a_lent_python_environment_leads_to_the_files_that_are_played(repo: Path, tmp_path: Path) -> None:
    """What a test starts elsewhere with an environment of its own finds the project by its editable installation alone."""
    source, environ = tmp_path / "source", {"HOME": str(tmp_path)}
    source.mkdir()
    (source / "calc.py").write_text("newer = True\n")
    venv.create(source / ".venv", with_pip=False)
    packages = next((source / ".venv").glob("lib/python*/site-packages"))
    (packages / "pytest.py").write_text("")
    editable, beside = packages / "calc.pth", f"{source}-of-others"
    editable.write_text(f"{source}\n{beside}\n")
    (source / ".venv" / "bin" / "calc").write_text(f"#!{source}/.venv/bin/python\n")
    init_repository(source, message="base")
    init_repository(repo, message="base")
    lent = lend(source, repo, settings=load(source, environ), environ=environ)
    asked = [str(lent["test.python"]), "-c", "import calc; print(calc.__file__)"]
    assert subprocess.check_output(asked, cwd="/", env={}, text=True).strip() == str(repo / "calc.py")
    assert (repo / ".venv" / "bin" / "calc").read_text() == f"#!{repo}/.venv/bin/python\n"
    assert (repo / editable.relative_to(source)).read_text() == f"{repo}\n{beside}\n"
    assert editable.read_text() == f"{source}\n{beside}\n"
