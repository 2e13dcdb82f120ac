"""How the tests of a repository are found, and what is said when they cannot run."""

from __future__ import annotations

import json
import sys

import pytest

from agentforge.errors import ConfigError
from agentforge.languages.python.plan import unittest_start
from agentforge.suite.detection import detect
from agentforge.testing.plan import plan_digest
from agentforge.verification.stages.baseline import measure_baseline


@pytest.fixture
def found(tmp_path):
    """Write files and detect: `found({path: text}, **settings)`."""

    def find(files, *, environ=None, **settings):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return detect(
            tmp_path, settings={"python": sys.executable, **settings}, environ=environ or {"PATH": "/nowhere"}
        )

    return find


_ONE = "def test_one():\n    assert True\n"


@pytest.mark.parametrize(
    ("files", "patterns"),
    [
        ({"kit/tests/tests.py": _ONE}, "test_*.py *_test.py tests.py"),
        (
            {"tests/TestA.py": _ONE, "tests/TestB.py": _ONE, "tests/TestData.py": "x = 1\n"},
            "test_*.py *_test.py Test*.py",
        ),
        ({"tests/tests.py": _ONE, "tests/test_b.py": _ONE}, ""),
        ({"tests/tests.py": _ONE, "pytest.ini": "[pytest]\n"}, ""),
    ],
    ids=["tests.py", "Test*.py", "beside usual ones", "configured"],
)
def test_files_whose_names_pytest_does_not_know_are_collected_where_there_are_no_others(found, files, patterns):
    plan = found(files)
    assert plan.test_paths == (("-o", f"python_files={patterns}") if patterns else ()), plan.source


def test_a_suite_in_a_file_called_tests_is_measured(project):
    made = project({"kit/__init__.py": "", "kit/tests/__init__.py": "", "kit/tests/tests.py": _ONE})
    facts, _ = measure_baseline(made.rig(), tree=made.tree())
    assert (facts["tests"], facts["passed"], facts["measured"], facts["causes"]) == (1, 1, True, [])


@pytest.mark.parametrize(
    ("files", "runner", "source"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest", "pytest via pyproject.toml"),
        ({"setup.cfg": "[tool:pytest]\n"}, "pytest", "pytest via setup.cfg"),
        ({"tests/conftest.py": ""}, "pytest", "pytest via tests/conftest.py"),
        ({"tests/test_a.py": "def test_a(): pass\n"}, "pytest", "pytest by the tests (tests/test_a.py)"),
        ({"tests/test_a.py": "import unittest\n"}, "unittest", "unittest by the tests (tests/test_a.py)"),
        ({"a.py": "x = 1\n"}, "pytest", "no tests yet"),
        ({"package.json": '{"scripts": {"test": "mocha spec"}}'}, "none", "mocha via the test script"),
        ({"package.json": '{"scripts": {"test": "standard a.js && mocha -u tdd --reporter spec"}}'}, "none", "mocha via the test script"),
        ({"package.json": '{"scripts": {"test": "npm run lint && tsc --noEmit; nyc mocha"}}'}, "none", "mocha via the test script"),
        ({"package.json": '{"scripts": {"test": "tsc && mocha dist"}}', "a.test.js": ""}, "none", "mocha via the test script"),
        ({"package.json": '{"devDependencies": {"vitest": "3"}}'}, "none", "vitest via the dependencies"),
        ({"package.json": '{"scripts": {"test": "a && b"}}', "a.test.js": ""}, "none", "a test script that is not understood"),
        ({"go.mod": "module x\n"}, "none", "go via go.mod"),
        ({"Cargo.toml": ""}, "none", "Cargo.toml"),
        ({"Cargo.toml": "", "tools/test-lxml.py": "print(1)\n"}, "none", "Cargo.toml"),
        ({"Cargo.toml": "", "py/test_a.py": "import unittest\nclass A(unittest.TestCase): pass\n"}, "unittest", "py/test_a.py"),
        ({"README": ""}, "none", "no tests were found"),
    ],
)  # fmt: skip
def test_the_repository_says_how_its_tests_run(found, files, runner, source):
    plan = found(files)
    assert plan.runner == runner and source in plan.source
    assert runner != "none" or plan.problems


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("tape test/*.js", 'the files of tape run by themselves, so node runs them, each as one test: set [test] command = "node --test test"'),
        ("c8 uvu test", 'the files of uvu run by themselves, so node runs them, each as one test: set [test] command = "node --test test"'),
        ("ava", "'ava', whose results are not read here; set [test] command to a runner that is"),
        ("jasmine --random", "'jasmine --random', whose results are not read here; set [test] command to a runner that is"),
    ],
)  # fmt: skip
def test_a_runner_that_is_not_read_is_named_with_what_can_be_done(found, script, told):
    plan = found({"package.json": json.dumps({"scripts": {"test": script}}), "test/a.test.js": ""})
    assert plan.runner == "none" and told in plan.problems[0]


def test_a_runner_that_another_package_brings_is_found_where_nothing_else_can_be_meant(found):
    files = {"package.json": '{"scripts": {"test": "their-scripts test && npm run size"}}', "src/a.spec.ts": ""}
    assert found(files).runner == "none"
    plan = found({**files, "node_modules/vitest/a": ""})
    assert (plan.runner, plan.command[:1]) == ("vitest", ("node_modules/.bin/vitest",))
    both = {**files, "node_modules/vitest/a": "", "node_modules/mocha/a": ""}
    assert found(both).runner == "none"
    assert found({**both, "vitest.config.mts": ""}).runner == "vitest"


def test_a_command_that_starts_pytest_keeps_the_strong_runner(found):
    plan = found({"t/test_a.py": "def test_a(): pass\n"}, command="python -m pytest t")
    assert (plan.runner, plan.test_paths, plan.command) == ("pytest", ("t",), ("python", "-m", "pytest", "t"))


@pytest.mark.parametrize(
    ("script", "command", "env"),
    [
        ("vitest", ("node_modules/.bin/vitest", "run"), {}),
        ("NODE_ENV=test npx vitest run --coverage --dir src", ("node_modules/.bin/vitest", "run", "--dir", "src"), {"NODE_ENV": "test"}),
        ("c8 mocha --reporter dot 'test/**/*.js'", ("node_modules/.bin/mocha", "test/**/*.js"), {}),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js -i", ("node_modules/.bin/jest", "-i"),
         {"NODE_OPTIONS": "--experimental-vm-modules"}),
    ],
)  # fmt: skip
def test_a_script_is_taken_apart_into_runner_options_and_variables(found, script, command, env):
    plan = found({"package.json": json.dumps({"scripts": {"test": script}}), "node_modules/jest/a": "", "node_modules/vitest/a": "",
                  "node_modules/mocha/a": ""})  # fmt: skip
    assert (plan.runner, plan.command, dict(plan.env)) == (command[0].rpartition("/")[2], command, env)


def test_a_setting_that_starts_a_known_runner_needs_no_report(found):
    assert (
        found({"package.json": "{}", "node_modules/vitest/a": ""}, command="npx vitest run --dir lib").runner
        == "vitest"
    )
    assert found({"go.mod": "module x\n"}, command="go test -tags slow ./...").command[2:] == ("-tags", "slow", "./...")


def test_a_command_without_a_place_for_its_results_is_refused(found):
    with pytest.raises(ConfigError, match="does not say where its results are"):
        found({}, command="make test")
    with pytest.raises(ConfigError, match="no key 'comand'"):
        found({}, comand="make test")


def test_an_interpreter_without_pytest_is_named_with_the_command_that_helps(found, tmp_path):
    import subprocess

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / ".venv")], check=True)
    files = {"pyproject.toml": "[project]\nname = 'x'\ndependencies = ['y']\n", "test_a.py": "import pytest\n"}
    plan = found(files, python="")
    assert plan.interpreter == str(tmp_path / ".venv/bin/python")
    assert plan.problems[0].endswith(f"{tmp_path}/.venv/bin/python -m pip install pytest")
    assert plan.environments == (".venv",)
    (tmp_path / "pyproject.toml").unlink()
    plan = found({}, python="")
    assert plan.problems == () and "agentforge's python is used" in plan.source and plan.interpreter == sys.executable


def test_source_folders_and_the_users_pythonpath_are_kept(found):
    files = {"src/pkg/__init__.py": "", "test_a.py": "def test_a(): pass\n"}
    plan = found(files, environ={"PATH": "/usr/bin:/bin", "PYTHONPATH": "lib:/opt/x"})
    assert (plan.roots, plan.pythonpath) == ((".", "src", "lib"), ("/opt/x",))


def test_the_digest_of_a_plan_follows_what_matters(found):
    plan = found({"test_a.py": "def test_a(): pass\n"})
    other = found({}, env={"A": "1"})
    assert plan_digest(other) != plan_digest(plan)


CASES = {"test_a.py": "import unittest\nclass T(unittest.TestCase): pass\ndef load_tests(a, b, c): return b\n"}


@pytest.mark.parametrize(
    ("files", "runner", "paths", "source"),
    [
        ({"tox.ini": "[testenv]\ndeps = pytest\ncommands = python -m pytest t {posargs}\n"}, "pytest", ("t",), "pytest via tox.ini"),
        ({"tox.ini": "[testenv]\ncommands =\n  pytest \\\n    -n auto \\\n    {posargs:lib t}\n"}, "pytest", ("t",), "stand in tox.ini"),
        ({"tox.ini": "[testenv:speed]\ncommands = pytest t/speed\n", "t/speed/test_b.py": "", "t/test_c.py": ""}, "pytest", (), "pytest via tox.ini"),
        ({"tox.ini": "[testenv]\ndeps = pytest\ncommands = python -m unittest discover\n"}, "unittest", ("t",), "unittest by tox.ini"),
        ({"noxfile.py": "def tests(session):\n    session.install('pytest')\n    session.run('pytest', 't')\n"}, "pytest", ("t",), "noxfile.py"),
        ({"pyproject.toml": "[tool.hatch.envs.default.scripts]\ntest = 'coverage run -m pytest {args}'\n"}, "pytest", (), "pyproject.toml"),
        ({".github/workflows/ci.yml": "steps:\n  - run: pip install pytest\n  - run: uv run pytest -q t\n"}, "pytest", ("t",), "ci.yml"),
        ({"requirements-dev.txt": "pytest>=7  # tests\n"}, "pytest", (), "pytest via requirements-dev.txt"),
        ({"README": "pytest"}, "unittest", ("t",), "unittest by the tests (t/test_a.py)"),
    ],
)  # fmt: skip
def test_what_the_project_has_written_down_decides_before_the_look_of_the_tests(found, files, runner, paths, source):
    plan = found({**files, "t/test_a.py": CASES["test_a.py"]})
    assert (plan.runner, plan.test_paths) == (runner, paths) and source in plan.source


def test_an_environment_of_tox_that_has_pytest_is_taken_and_lent(found, tmp_path):
    import subprocess

    for place, more in ((".venv", ()), (".tox/py3", ("--system-site-packages",))):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", *more, str(tmp_path / place)], check=True)
    (tmp_path / ".tox" / "py3" / "lib" / f"python3.{sys.version_info[1]}" / "site-packages" / "pytest.py").write_text(
        ""
    )
    plan = found({"test_a.py": "import pytest\n", "setup.py": ""}, python="")
    assert plan.interpreter == str(tmp_path / ".tox/py3/bin/python") and plan.environments == (".venv", ".tox")


@pytest.mark.parametrize(
    ("command", "start"),
    [
        ("python -m unittest", "."), ("python3.11 -m unittest discover tests", "tests"),
        ("python -m unittest discover -v -s tests -t . -p test_*.py", "tests"),
        ("python -m unittest discover --start-directory=src/kit/tests", "src/kit/tests"),
        ("python -m unittest discover tests check_*.py", None), ("python -m unittest tests.test_core", None),
        ("python -m pytest tests", None), ("make test", None),
    ],
)  # fmt: skip
def test_a_command_that_starts_the_discovery_of_unittest_is_read_as_such(command: str, start: str | None) -> None:
    assert unittest_start(command.split()) == start
