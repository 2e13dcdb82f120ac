"""Finds the test plan of a repository from its settings and from what lies in it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.errors import ConfigError, ToolchainError
from agentforge.languages.catalogue import languages
from agentforge.languages.javascript.scripts import read_package, workspace_folders
from agentforge.languages.language import ProjectFiles
from agentforge.languages.python.plan import first_python_plan, plan_from, pytest_arguments, pytest_plan, unittest_start
from agentforge.testing.plan import DEFAULT_TIMEOUT_S, TestPlan
from agentforge.workspace.files import walk
from agentforge.workspace.processes import process
from agentforge.workspace.sandbox.toolchain import child_environment

_SETTINGS = ("command", "junit", "python", "timeout", "env", "paths")
_BUILT = ("*.so", "*/_version.py", "*_version.py", "*/version.py", "*/__version__.py")
_BORROWED = (".venv", "venv", "env", ".env", "node_modules")


def detect(repo: Path, *, settings: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> TestPlan:
    """Find out how the tests of a repository are run.

    The setting `[test] command` wins; then each language is asked in the order of its rank.

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
    project = ProjectFiles(repo=repo, names=names, settings=settings, environ=environ, base=base)
    if settings.get("command"):
        return _from_command(project)
    plans = (language.find(project) for language in languages())
    return next((plan for plan in plans if plan is not None), None) or _nothing(project)


def _refuse_unknown(settings: Mapping[str, Any]) -> None:
    unknown = sorted(set(settings) - set(_SETTINGS))
    if unknown:
        raise ConfigError(f"[test] has no key {unknown[0]!r}", hint=f"it knows {', '.join(_SETTINGS)}")


def _from_command(project: ProjectFiles) -> TestPlan:
    """The user's own command. One that starts pytest or unittest gets the strong runner, any other needs JUnit XML."""
    settings = project.settings
    raw = settings["command"]
    command = tuple(shlex.split(raw)) if isinstance(raw, str) else tuple(str(part) for part in raw)
    source = f"setting [test] command = {shlex.join(command)}"
    junit = str(settings.get("junit") or "")
    arguments = pytest_arguments(command)
    if arguments is not None and not junit:
        plan = pytest_plan(project, source=source)
        return replace(plan, command=command, test_paths=arguments)
    start = unittest_start(command) if not junit else None
    if start is not None:
        return replace(plan_from(start, project), command=command, source=source)
    reports = bool(junit) or any("{junit}" in part for part in command)
    known = (language.plan_of_command(project, command) for language in languages() if not reports)
    plan_known = next((plan for plan in known if plan is not None), None)
    if plan_known is not None:
        return replace(plan_known, source=source)
    if not reports:
        raise ConfigError(
            f"[test] command = {shlex.join(command)!r} does not say where its results are",
            hint='set [test] junit = "path of the JUnit XML file that it writes", or put {junit} into the command',
        )
    language = "javascript" if "package.json" in project.names else "other"
    return TestPlan(runner="junit", command=command, junit=junit, source=source, language=language, **project.base)


def _nothing(project: ProjectFiles) -> TestPlan:
    """A repository without tests: Python has runners for the first ones; any other language needs the setting."""
    if any(name.endswith(".py") for name in project.names):
        return first_python_plan(project)
    return TestPlan(
        runner="none",
        language="other",
        source="no tests were found",
        problems=("no tests were found; set [test] command and [test] junit",),
        **project.base,
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
