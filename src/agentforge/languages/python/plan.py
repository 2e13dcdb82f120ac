"""Finds out how the tests of a Python repository run: pytest or unittest, by which python, from which folders."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.languages.language import ProjectFiles
from agentforge.testing.interpreter import Interpreter, find_interpreter, own_interpreter
from agentforge.testing.plan import TestPlan
from agentforge.testing.written_commands import read_ini, read_toml, requires_pytest, written_commands

_READ_LIMIT = 200
_OTHERS = ("Cargo.toml", "go.mod", "package.json", "pom.xml", "build.gradle", "build.gradle.kts")
"""Files that say how a project of another language is built and tested."""
_USUAL = ("test_*.py", "*_test.py")
"""What pytest takes for test files where nobody says otherwise."""
_OTHER_NAMES = re.compile(r"^(test|Test)(?!s?\.py$).*\.py$")
_TESTS = re.compile(r"^\s*(?:async )?def test|^class \w*Test", re.MULTILINE)
_DISCOVER = ("python", "-m", "unittest", "discover")


def find_python(project: ProjectFiles) -> TestPlan | None:
    """Find the plan of a repository with Python tests; None when there are none.

    What the project says decides: a configuration of pytest or a conftest.py, then the commands that it has written down
    (tox, nox, task runners, CI), then a dependency on pytest, and only then what the tests look like.
    """
    repo, names = project.repo, project.names
    tests = [name for name in names if is_python_test(name)]
    config = _pytest_config(repo, names)
    if config:
        return pytest_plan(project, source=f"detected: pytest via {config}")
    written = written_commands(repo, names)
    own = [one for one in written if one.runner == "pytest"]
    if own and (tests or own[0].paths):
        return pytest_plan(project, source=f"detected: pytest via {own[0].file}")
    if not tests:
        return None
    if _style(repo, tests) == "pytest":
        return pytest_plan(project, source=f"detected: pytest by the tests ({tests[0]})")
    required = requires_pytest(repo, names) if not written else ""
    if required:
        plan = pytest_plan(project, source=f"detected: pytest via {required}")
        if not plan.problems:
            return plan
    if not written and not any(_holds_a_class(repo / name) for name in tests[:_READ_LIMIT]):
        other = next((name for name in _OTHERS if name in names), "")
        if other:  # scripts beside a project of another language
            return None
    by = f"{written[0].file}" if written else f"the tests ({tests[0]})"
    return _unittest_plan(project, tests, by=by)


def first_python_plan(project: ProjectFiles) -> TestPlan:
    """The plan of a Python project without tests: pytest where it is there, else unittest."""
    plan = pytest_plan(project, source="no tests yet; pytest is there for new ones")
    if not plan.problems:
        return plan
    return replace(
        plan,
        runner="unittest",
        command=_DISCOVER,
        problems=(),
        source="no tests yet; the project's python has no pytest, so new ones use unittest",
    )


def pytest_plan(project: ProjectFiles, *, source: str) -> TestPlan:
    """The plan that runs pytest.

    Args:
        source: how it was found that pytest runs the tests.
    """
    repo, names, settings, environ = project.repo, project.names, project.settings, project.environ
    python = find_interpreter(repo, setting=str(settings.get("python") or ""), environ=environ, wanted="pytest")
    problems: tuple[str, ...] = ()
    found = python
    if not python.has_pytest:
        own = own_interpreter(environ)
        if own is not None and own.has_pytest and not _has_dependencies(repo, names):
            source += f"; {python.path} has no pytest and the project no dependencies: agentforge's python is used"
            python = own
        else:
            problems = (
                f"the project uses pytest, but {python.path} ({python.source}) has none; "
                f"install it: {shlex.quote(str(python.path))} -m pip install pytest",
            )
    paths = tuple(str(path) for path in settings.get("paths") or ())
    if not paths and not _configured_paths(repo, names):
        paths, file = _written_paths(repo, names)
        source += f"; its paths ({', '.join(paths)}) stand in {file}" if paths else ""
    patterns = _other_patterns(repo, names) if not paths else ()
    if patterns:
        source += f"; its test files have names that pytest does not know by itself ({', '.join(patterns)})"
        paths = ("-o", f"python_files={' '.join((*_USUAL, *patterns))}")
    return TestPlan(
        runner="pytest",
        command=("python", "-m", "pytest"),
        test_paths=paths,
        source=f"{source}; python {'.'.join(map(str, python.version))} from {python.source}",
        problems=problems,
        project_python=str(found.path),
        **_python_parts(project, python),
        **project.base,
    )


def pytest_arguments(command: Sequence[str]) -> tuple[str, ...] | None:
    """What follows pytest in `pytest ...` or `python -m pytest ...`; None for any other command."""
    program = PurePosixPath(command[0]).name if command else ""
    if program in ("pytest", "py.test"):
        return tuple(command[1:])
    if program.startswith("python") and tuple(command[1:3]) == ("-m", "pytest"):
        return tuple(command[3:])
    return None


def unittest_start(command: Sequence[str]) -> str | None:
    """Where `python -m unittest [discover]` starts; None for other commands, for named modules, for another pattern."""
    program = PurePosixPath(command[0]).name if command else ""
    words = list(command[3:])
    if not program.startswith("python") or tuple(command[1:3]) != ("-m", "unittest"):
        return None
    if words and words[0] == "discover":
        words = words[1:]
    elif any(not word.startswith("-") for word in words):
        return None
    told, plain = _discovery_words(words)
    start, pattern = [*plain, *("", "")[len(plain) :]][:2]
    pattern = told.get("p", pattern)
    return None if pattern not in ("", "test*.py", "test_*.py") else told.get("s", start) or "."


def _discovery_words(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The options of discovery with their values by their letter, and what stands without one."""
    long = {"--start-directory": "s", "--pattern": "p", "--top-level-directory": "t"}
    told: dict[str, str] = {}
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        name, sign, value = word.partition("=")
        letter = long.get(name) or (name[1:] if name in ("-s", "-p", "-t") else "")
        if letter:
            told[letter] = value if sign else next(rest, "")
        elif not word.startswith("-"):
            plain.append(word)
    return told, plain


def plan_from(start: str, project: ProjectFiles) -> TestPlan:
    """The plan of a command that starts unittest's discovery in a folder."""
    return _unittest_plan(replace(project, settings={**project.settings, "paths": [start]}), (), by="the setting")


def is_python_test(name: str) -> bool:
    """Whether a repository path looks like a Python test file by the names that pytest, unittest and nose look for."""
    if not name.endswith(".py"):  # most of 50,000 names
        return False
    stem = name.rpartition("/")[2]
    return (stem.startswith(("test", "Test")) or stem.endswith("_test.py")) and stem != "test.py"


def defines_tests(source: bytes) -> bool:
    """Whether Python code holds a function or a class that is named like a test."""
    return _TESTS.search(source.decode("utf-8", "replace")) is not None


def _other_patterns(repo: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Names by which pytest finds the test files of a project that calls all of them otherwise; () where it finds some by itself.

    A project that configures pytest says what it means.
    """
    files = [name for name in names if is_python_test(name)]
    if _pytest_config(repo, names) or any(
        fnmatchcase(PurePosixPath(name).name, usual) for name in files for usual in _USUAL
    ):
        return ()
    found = [
        name for name in files[:_READ_LIMIT] if (repo / name).is_file() and defines_tests((repo / name).read_bytes())
    ]
    return tuple(dict.fromkeys(_OTHER_NAMES.sub(r"\1*.py", PurePosixPath(name).name) for name in found))


def _pytest_config(repo: Path, names: Sequence[str]) -> str:
    """The file that configures pytest; empty when none does."""
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"):
        if name in names:
            return name
    if "pyproject.toml" in names and "pytest" in read_toml(repo / "pyproject.toml").get("tool", {}):
        return "pyproject.toml"
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if name in names and read_ini(repo / name).has_section(section):
            return name
    return next((name for name in names if name.rpartition("/")[2] == "conftest.py"), "")


def _configured_paths(repo: Path, names: Sequence[str]) -> bool:
    """Whether pytest's own configuration says where the tests lie."""
    if "pyproject.toml" in names:
        table = read_toml(repo / "pyproject.toml").get("tool", {}).get("pytest", {})
        if "testpaths" in table.get("ini_options", table):
            return True
    places = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
    return any(name in names and read_ini(repo / name).has_option(section, "testpaths") for name, section in places)


def _written_paths(repo: Path, names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The paths that the first file which gives pytest some gives it, and that file.

    Only paths that reach most of the test files are the suite; others are the benchmarks, the smoke tests or the like.
    """
    found: dict[str, list[str]] = {}
    for one in written_commands(repo, names):
        if one.runner == "pytest":
            found.setdefault(one.file, []).extend(one.paths)
    tests = [name for name in names if _may_be_test(name)] if found else []
    for file, paths in found.items():
        reached = [name for name in tests if any(name == path or name.startswith(f"{path}/") for path in paths)]
        if reached and len(reached) * 2 >= len(tests):
            return tuple(dict.fromkeys(paths)), file
    return (), ""


def _may_be_test(name: str) -> bool:
    return is_python_test(name) or name.rpartition("/")[2] in ("test.py", "tests.py")


def _style(repo: Path, tests: Sequence[str]) -> str:
    """Whether the tests need pytest: they import it, or are plain functions."""
    for name in tests[:_READ_LIMIT]:
        try:
            tree = ast.parse((repo / name).read_bytes())
        except (SyntaxError, ValueError, OSError):
            continue
        for node in tree.body:
            if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "pytest" for alias in node.names):
                return "pytest"
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pytest":
                return "pytest"
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
                return "pytest"
    return "unittest"


def _holds_a_class(path: Path) -> bool:
    """Whether a file defines a class with a base at its top level, as tests of unittest do."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return False
    return any(isinstance(node, ast.ClassDef) and node.bases for node in tree.body)


def _unittest_plan(project: ProjectFiles, tests: Sequence[str], *, by: str) -> TestPlan:
    settings, names = project.settings, project.names
    python = find_interpreter(project.repo, setting=str(settings.get("python") or ""), environ=project.environ)
    folders = sorted({str(PurePosixPath(name).parent) for name in tests if PurePosixPath(name).name.startswith("test")})
    starts = [one for one in folders if not any(one != other and _below(one, other, names) for other in folders)]
    return TestPlan(
        runner="unittest",
        command=_DISCOVER,
        test_paths=tuple(str(path) for path in settings.get("paths") or starts),
        source=f"detected: unittest by {by}; python {'.'.join(map(str, python.version))} from {python.source}",
        **_python_parts(project, python),
        **project.base,
    )


def _below(one: str, other: str, names: Sequence[str]) -> bool:
    """Whether discovery that starts in `other` reaches the package `one`."""
    return (other == "." or one.startswith(other + "/")) and f"{one}/__init__.py" in names


def _python_parts(project: ProjectFiles, python: Interpreter) -> dict[str, Any]:
    entries = [entry for entry in project.environ.get("PYTHONPATH", "").split(":") if entry]
    relative = tuple(entry for entry in entries if not entry.startswith("/"))
    roots = tuple(dict.fromkeys((".", *source_folders(project.repo, project.names), *relative)))
    return {
        "interpreter": str(python.path),
        "roots": roots,
        "pythonpath": tuple(entry for entry in entries if entry.startswith("/")),
        "user_site": python.user_site,
    }


def source_folders(repo: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Folders that hold the packages: what setuptools is told, and `src` by custom."""
    where = []
    if "pyproject.toml" in names:
        tool = read_toml(repo / "pyproject.toml").get("tool", {})
        found = tool.get("setuptools", {}).get("packages", {})
        where = list(found.get("find", {}).get("where", [])) if isinstance(found, dict) else []
        package_dir = tool.get("setuptools", {}).get("package-dir", {})
        where += [package_dir[""]] if "" in package_dir else []
    if any(name.startswith("src/") and name.endswith(".py") for name in names) and "src/__init__.py" not in names:
        where.append("src")
    return tuple(folder for folder in dict.fromkeys(where) if folder != "." and (repo / folder).is_dir())


def _has_dependencies(repo: Path, names: Sequence[str]) -> bool:
    if any(name.startswith("requirements") or name in ("Pipfile", "setup.py", "environment.yml") for name in names):
        return True
    if "setup.cfg" in names and read_ini(repo / "setup.cfg").has_option("options", "install_requires"):
        return True
    if "pyproject.toml" not in names:
        return False
    project = read_toml(repo / "pyproject.toml")
    poetry = project.get("tool", {}).get("poetry", {}).get("dependencies", {})
    return bool(project.get("project", {}).get("dependencies")) or bool(set(poetry) - {"python"})
