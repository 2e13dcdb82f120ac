"""Finds the test plan of a repository from its settings and from what lies in it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.errors import ConfigError, ToolchainError
from agentforge.languages.java.project import find_java, plan_of_java_words
from agentforge.languages.javascript.project import find_javascript, is_test as is_javascript_test, plan_of_words
from agentforge.languages.javascript.scripts import read_package, workspace_folders
from agentforge.languages.python.plan import (
    find_python,
    first_python_plan,
    plan_from,
    pytest_arguments,
    pytest_plan,
    unittest_start,
)
from agentforge.suite.wrapper_commands import unwrapped
from agentforge.testing.plan import DEFAULT_TIMEOUT_S, TestPlan
from agentforge.workspace.files import walk
from agentforge.workspace.processes import process
from agentforge.workspace.sandbox.toolchain import child_environment

_SETTINGS = ("command", "junit", "python", "timeout", "env", "paths")
_BUILT = ("*.so", "*/_version.py", "*_version.py", "*/version.py", "*/__version__.py")
_BORROWED = (".venv", "venv", "env", ".env", "node_modules")


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
        "environments": _environments(repo, names, environ),
    }
    if settings.get("command"):
        return _from_command(repo, names, settings, environ, base)
    return (
        find_python(repo, names, settings, environ, base)
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
    arguments = pytest_arguments(command)
    if arguments is not None and not junit:
        plan = pytest_plan(repo, names, settings, environ, base, source=source)
        return replace(plan, command=command, test_paths=arguments)
    start = unittest_start(command) if not junit else None
    if start is not None:
        return replace(plan_from(start, repo, names, settings, environ, base), command=command, source=source)
    known = None if junit or any("{junit}" in part for part in command) else _known(repo, names, command, environ, base)
    if known is not None:
        return replace(known, source=source)
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
        return replace(plan, command=tuple(command))
    java = plan_of_java_words(command, environ=environ, base=base)
    if java is not None:
        return java
    return plan_of_words(repo, command, environ=environ, base=base, by="the setting")


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
    """A repository without tests: Python has runners for the first ones; any other language needs the setting."""
    if any(name.endswith(".py") for name in names):
        return first_python_plan(repo, names, settings, environ, base)
    return TestPlan(
        runner="none",
        language="other",
        source="no tests were found",
        problems=("no tests were found; set [test] command and [test] junit",),
        **base,
    )


def _environments(repo: Path, names: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Folders and built files of the repository that git ignores and that the tests need; a link is lent as what it leads to."""
    folders = (*_installed(repo, names, environ), *_vendored(repo, environ))
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "ls-files", "-z", "--others"]
    command += ["--ignored", "--exclude-standard", "--", *_BUILT]
    try:
        done = process.run(command, cwd=repo, env=child_environment(environ, {}), timeout_s=30, merge_stderr=False)
    except ToolchainError:
        return folders
    names = [name for name in done.output.decode("utf-8", "surrogateescape").split("\0") if name]
    kept = [name for name in names if PurePosixPath(name).parts[0] not in (*_BORROWED, "build", "dist", ".tox", "env")]
    return folders + tuple(kept[:50] if done.exit_code == 0 else ())


def _installed(repo: Path, names: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Python's environments, and `node_modules` of the repository and of each package of its workspace."""
    named = environ.get("UV_PROJECT_ENVIRONMENT", "")
    python = [*_BORROWED[:-1], *([named] if named and not named.startswith("/") else [])]
    packages = workspace_folders(repo, read_package(repo / "package.json"), names) if "package.json" in names else ()
    found = [name for name in dict.fromkeys(python) if (repo / name / "bin" / "python").exists()]
    found += [name for name in (".tox", ".nox") if (repo / name).is_dir()]
    found += [name for name in ("node_modules", *(f"{one}/node_modules" for one in packages)) if (repo / name).is_dir()]
    return tuple(found)


def _vendored(repo: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folder of Composer's or Bundler's packages, where git ignores it; one that git knows is in every checkout."""
    if not (repo / "vendor").is_dir() or (repo / "vendor").is_symlink():
        return ()
    asked = ["git", "-c", "core.fsmonitor=false", "check-ignore", "-q", "--", "vendor"]
    done = process.run(asked, cwd=repo, env=child_environment(environ, {}), timeout_s=30)
    return ("vendor",) if done.exit_code == 0 else ()
