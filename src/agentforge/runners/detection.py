"""Finds the test plan of a repository from its settings and from what lies in it."""

from __future__ import annotations

import ast
import configparser
import os
import shlex
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.errors import ConfigError, ToolchainError
from agentforge.runners.interpreter import Interpreter, find_interpreter, own_interpreter
from agentforge.runners.java import find_java, plan_of_java_words
from agentforge.runners.javascript import find_javascript, plan_of_words
from agentforge.runners.javascript import is_test as is_javascript_test
from agentforge.runners.plan import DEFAULT_TIMEOUT_S, TestPlan
from agentforge.runners.wrapped import unwrapped
from agentforge.workspace import process, walk
from agentforge.workspace.toolchain import child_environment

_SETTINGS = ("command", "junit", "python", "timeout", "env", "paths")
_READ_LIMIT = 200
_BUILT = ("*.so", "*/_version.py", "*_version.py", "*/version.py", "*/__version__.py")
_BORROWED = (".venv", "venv", "node_modules")


def detect(repo: Path, *, settings: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> TestPlan:
    """Find out how the tests of a repository are run.

    The setting `[test] command` wins; then pytest, unittest, node, cargo, go and java, by what the repository says of itself.

    Args:
        repo: the user's repository, an absolute path.
        settings: the table `[test]`: command, junit, python, timeout, env.
        environ: the user's environment; None is that of this process.
    Raises:
        ConfigError: a setting of `[test]` cannot be used.
    """
    environ = os.environ if environ is None else environ
    _refuse_unknown(settings)
    names = walk.files(repo)
    base = {
        "timeout_s": float(settings.get("timeout") or DEFAULT_TIMEOUT_S),
        "env": {str(name): str(value) for name, value in dict(settings.get("env") or {}).items()},
        "environments": _environments(repo, environ),
    }
    if settings.get("command"):
        return _from_command(repo, names, settings, environ, base)
    return (
        _python(repo, names, settings, environ, base)
        or _javascript(repo, names, environ, base)
        or _rust(names, environ, base)
        or _go(names, environ, base)
        or find_java(repo, names, environ=environ, base=base)
        or _nothing(repo, names, settings, environ, base)
    )


def _javascript(
    repo: Path, names: Sequence[str], environ: Mapping[str, str], base: Mapping[str, Any]
) -> TestPlan | None:
    """JavaScript's runner; a package.json without tests may stand beside the build file of another language."""
    others = {"pom.xml", "build.gradle", "build.gradle.kts", "Cargo.toml", "go.mod"} & set(names)
    if others and not any(is_javascript_test(name) for name in names):
        return None
    return find_javascript(repo, names, environ=environ, base=base)


def _refuse_unknown(settings: Mapping[str, Any]) -> None:
    unknown = sorted(set(settings) - set(_SETTINGS))
    if unknown:
        raise ConfigError(f"[test] has no key {unknown[0]!r}", hint=f"it knows {', '.join(_SETTINGS)}")


def _from_command(
    repo: Path, names: Sequence[str], settings: Mapping[str, Any], environ: Mapping[str, str], base: Mapping[str, Any]
) -> TestPlan:
    """The user's own command. One that starts pytest or unittest gets the strong runner, any other needs JUnit XML."""
    raw = settings["command"]
    command = tuple(shlex.split(raw)) if isinstance(raw, str) else tuple(str(part) for part in raw)
    source = f"setting [test] command = {shlex.join(command)}"
    junit = str(settings.get("junit") or "")
    arguments = _pytest_arguments(command)
    if arguments is not None and not junit:
        plan = _pytest_plan(repo, names, settings, environ, base, source=source)
        return _with(plan, command=command, test_paths=arguments)
    known = None if junit or any("{junit}" in part for part in command) else _known(repo, names, command, environ, base)
    if known is not None:
        return _with(known, source=source)
    if not junit and not any("{junit}" in part for part in command):
        raise ConfigError(
            f"[test] command = {shlex.join(command)!r} does not say where its results are",
            hint='set [test] junit = "path of the JUnit XML file that it writes", or put {junit} into the command',
        )
    language = "javascript" if "package.json" in names else "other"
    return TestPlan(runner="junit", command=command, junit=junit, source=source, language=language, **base)


def _known(
    repo: Path, names: Sequence[str], command: Sequence[str], environ: Mapping[str, str], base: Mapping[str, Any]
) -> TestPlan | None:
    """The plan of a command that starts a runner which we read ourselves."""
    plan = None
    command = unwrapped(command)
    if tuple(command[:2]) == ("go", "test"):
        plan = _go(names, environ, base)
    elif tuple(command[:2]) == ("cargo", "test"):
        plan = _rust(names, environ, base)
    if plan is not None:
        return _with(plan, command=tuple(command))
    java = plan_of_java_words(command, environ=environ, base=base)
    if java is not None:
        return java
    return plan_of_words(repo, command, environ=environ, base=base, by="the setting")


def _pytest_arguments(command: Sequence[str]) -> tuple[str, ...] | None:
    """What follows pytest in `pytest ...` or `python -m pytest ...`; None for any other command."""
    program = PurePosixPath(command[0]).name if command else ""
    if program in ("pytest", "py.test"):
        return tuple(command[1:])
    if program.startswith("python") and tuple(command[1:3]) == ("-m", "pytest"):
        return tuple(command[3:])
    return None


def _python(
    repo: Path, names: Sequence[str], settings: Mapping[str, Any], environ: Mapping[str, str], base: Mapping[str, Any]
) -> TestPlan | None:
    tests = [name for name in names if is_python_test(name)]
    config = _pytest_config(repo, names)
    if config:
        return _pytest_plan(repo, names, settings, environ, base, source=f"detected: pytest via {config}")
    if not tests:
        return None
    style = _style(repo, tests)
    if style == "pytest":
        return _pytest_plan(repo, names, settings, environ, base, source=f"detected: pytest by the tests ({tests[0]})")
    return _unittest_plan(repo, tests, names, settings, environ, base)


def is_python_test(name: str) -> bool:
    """Whether a repository path looks like a Python test file by pytest's and unittest's default names."""
    stem = PurePosixPath(name).name
    return stem.endswith(".py") and (stem.startswith("test") or stem.endswith("_test.py")) and stem != "test.py"


def _pytest_config(repo: Path, names: Sequence[str]) -> str:
    """The file that configures pytest; empty when none does."""
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"):
        if name in names:
            return name
    if "pyproject.toml" in names and "pytest" in _toml(repo / "pyproject.toml").get("tool", {}):
        return "pyproject.toml"
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if name in names and _ini(repo / name).has_section(section):
            return name
    return next((name for name in names if PurePosixPath(name).name == "conftest.py"), "")


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


def _pytest_plan(
    repo: Path,
    names: Sequence[str],
    settings: Mapping[str, Any],
    environ: Mapping[str, str],
    base: Mapping[str, Any],
    *,
    source: str,
) -> TestPlan:
    python = find_interpreter(repo, setting=str(settings.get("python") or ""), environ=environ)
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
    return TestPlan(
        runner="pytest",
        command=("python", "-m", "pytest"),
        test_paths=tuple(str(path) for path in settings.get("paths") or ()),
        source=f"{source}; python {'.'.join(map(str, python.version))} from {python.source}",
        problems=problems,
        project_python=str(found.path),
        **_python_parts(repo, names, python, environ),
        **base,
    )


def _unittest_plan(
    repo: Path,
    tests: Sequence[str],
    names: Sequence[str],
    settings: Mapping[str, Any],
    environ: Mapping[str, str],
    base: Mapping[str, Any],
) -> TestPlan:
    python = find_interpreter(repo, setting=str(settings.get("python") or ""), environ=environ)
    folders = sorted({str(PurePosixPath(name).parent) for name in tests if PurePosixPath(name).name.startswith("test")})
    starts = [one for one in folders if not any(one != other and _below(one, other, names) for other in folders)]
    return TestPlan(
        runner="unittest",
        command=("python", "-m", "unittest", "discover"),
        test_paths=tuple(str(path) for path in settings.get("paths") or starts),
        source=f"detected: unittest by the tests ({tests[0]}); "
        f"python {'.'.join(map(str, python.version))} from {python.source}",
        **_python_parts(repo, names, python, environ),
        **base,
    )


def _below(one: str, other: str, names: Sequence[str]) -> bool:
    """Whether discovery that starts in `other` reaches the package `one`."""
    return (other == "." or one.startswith(other + "/")) and f"{one}/__init__.py" in names


def _python_parts(repo: Path, names: Sequence[str], python: Interpreter, environ: Mapping[str, str]) -> dict[str, Any]:
    entries = [entry for entry in environ.get("PYTHONPATH", "").split(":") if entry]
    relative = tuple(entry for entry in entries if not entry.startswith("/"))
    roots = tuple(dict.fromkeys((".", *_source_folders(repo, names), *relative)))
    return {
        "interpreter": str(python.path),
        "roots": roots,
        "pythonpath": tuple(entry for entry in entries if entry.startswith("/")),
        "user_site": python.user_site,
    }


def _source_folders(repo: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Folders that hold the packages: what setuptools is told, and `src` by custom."""
    where = []
    if "pyproject.toml" in names:
        tool = _toml(repo / "pyproject.toml").get("tool", {})
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
    if "setup.cfg" in names and _ini(repo / "setup.cfg").has_option("options", "install_requires"):
        return True
    if "pyproject.toml" not in names:
        return False
    project = _toml(repo / "pyproject.toml")
    poetry = project.get("tool", {}).get("poetry", {}).get("dependencies", {})
    return bool(project.get("project", {}).get("dependencies")) or bool(set(poetry) - {"python"})


def _rust(names: Sequence[str], environ: Mapping[str, str], base: Mapping[str, Any]) -> TestPlan | None:
    if "Cargo.toml" not in names:
        return None
    if shutil.which("cargo", path=environ.get("PATH")) is None:
        return TestPlan(
            runner="none", language="rust", source="detected: Cargo.toml", problems=("cargo is not on PATH",), **base
        )
    return TestPlan(
        runner="cargo",
        command=("cargo", "test", "--offline", "--no-fail-fast", "--lib", "--bins", "--tests"),
        language="rust",
        source="detected: cargo via Cargo.toml (unit and integration tests; documentation tests are not run)",
        **base,
    )


def _go(names: Sequence[str], environ: Mapping[str, str], base: Mapping[str, Any]) -> TestPlan | None:
    if "go.mod" not in names:
        return None
    there = shutil.which("go", path=environ.get("PATH")) is not None
    return TestPlan(
        runner="go" if there else "none",
        command=("go", "test", "./..."),
        language="go",
        source="detected: go via go.mod",
        problems=() if there else ("go is not on PATH; install Go",),
        **base,
    )


def _nothing(
    repo: Path, names: Sequence[str], settings: Mapping[str, Any], environ: Mapping[str, str], base: Mapping[str, Any]
) -> TestPlan:
    """A repository without tests: a Python project gets pytest where it is there, else unittest."""
    if not any(name.endswith(".py") for name in names):
        return TestPlan(
            runner="none",
            language="other",
            source="no tests were found",
            problems=("no tests were found; set [test] command and [test] junit",),
            **base,
        )
    plan = _pytest_plan(repo, names, settings, environ, base, source="no tests yet; pytest is there for new ones")
    if not plan.problems:
        return plan
    return _with(
        plan, runner="unittest", command=("python", "-m", "unittest", "discover"), problems=(),
        source="no tests yet; the project's python has no pytest, so new ones use unittest",
    )  # fmt: skip


def _environments(repo: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Folders and built files of the repository that git ignores and that the tests need."""
    folders = tuple(name for name in _BORROWED if (repo / name).is_dir() and not (repo / name).is_symlink())
    folders += _vendored(repo, environ)
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "ls-files", "-z", "--others"]
    command += ["--ignored", "--exclude-standard", "--", *_BUILT]
    try:
        done = process.run(command, cwd=repo, env=child_environment(environ, {}), timeout_s=30, merge_stderr=False)
    except ToolchainError:
        return folders
    names = [name for name in done.output.decode("utf-8", "surrogateescape").split("\0") if name]
    kept = [name for name in names if PurePosixPath(name).parts[0] not in (*_BORROWED, "build", "dist", ".tox", "env")]
    return folders + tuple(kept[:50] if done.exit_code == 0 else ())


def _vendored(repo: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folder of Composer's or Bundler's packages, where git ignores it; one that git knows is in every checkout."""
    if not (repo / "vendor").is_dir() or (repo / "vendor").is_symlink():
        return ()
    asked = ["git", "-c", "core.fsmonitor=false", "check-ignore", "-q", "--", "vendor"]
    done = process.run(asked, cwd=repo, env=child_environment(environ, {}), timeout_s=30)
    return ("vendor",) if done.exit_code == 0 else ()


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, OSError):
        return {}


def _ini(path: Path) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(path.read_text("utf-8", "replace"))
    except (configparser.Error, OSError):
        return configparser.RawConfigParser()
    return parser


def _with(plan: TestPlan, **changes: Any) -> TestPlan:
    from dataclasses import replace

    return replace(plan, **changes)
