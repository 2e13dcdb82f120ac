"""Finds the project's own python, and what it can do."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentforge.errors import ConfigError, ToolchainError
from agentforge.workspace.processes import process
from agentforge.workspace.sandbox.toolchain import child_environment

_PROBE = """
import importlib.util, json, site, sys
user = site.getusersitepackages() if site.ENABLE_USER_SITE else ""
has = {name: importlib.util.find_spec(name) is not None for name in ("pytest", "xdist")}
told = {"version": list(sys.version_info[:3]), "prefix": sys.prefix, "path": sys.executable}
print(json.dumps({**told, "user_site": user, "has": has}))
"""
_FOLDERS = (".venv", "venv", "env", ".env")
_TASK_RUNNERS = (".tox", ".nox")
_ON_PATH = " on PATH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A python that can be started.

    Attributes:
        path: the link inside its environment, not what it points to; a shim (pyenv, asdf) is seen through.
        source: where it was found, in words.
        own: it is the python that agentforge itself runs on.
    """

    path: Path
    source: str
    version: tuple[int, ...]
    has_pytest: bool
    user_site: str
    own: bool


def find_interpreter(
    repo: Path, *, setting: str, environ: Mapping[str, str], wanted: Literal["", "pytest"] = ""
) -> Interpreter:
    """Find the project's python: the setting, the active environment, one in the repository, the one on PATH, our own.

    Args:
        wanted: of the project's environments, one that has this is taken before one that has not.
    Raises:
        ConfigError: the setting `[test] python` names nothing that can be started.
    """
    if setting:
        found = _probed(_resolved(repo, setting), "setting [test] python", environ)
        if found is None:
            raise ConfigError(f"[test] python = {setting!r} cannot be started", hint="give the path of an interpreter")
        return found
    first = None
    for path, source in _candidates(repo, environ):
        if first is not None and source.endswith(_ON_PATH):
            break
        found = _probed(path, source, environ)
        if found is not None and (found.has_pytest or not wanted):
            return found
        first = first or found
    if first is not None:
        return first
    own = _probed(Path(sys.executable), "the interpreter of agentforge", environ)
    if own is None:
        raise ToolchainError(f"{sys.executable} cannot be started")
    return own


def own_interpreter(environ: Mapping[str, str]) -> Interpreter | None:
    """Describe the python that agentforge itself runs on."""
    return _probed(Path(sys.executable), "the interpreter of agentforge", environ)


def _candidates(repo: Path, environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    active = environ.get("VIRTUAL_ENV", "")
    if active and Path(active).resolve() != Path(sys.prefix).resolve():
        yield Path(active) / "bin" / "python", f"the active environment {active}"
    named = environ.get("UV_PROJECT_ENVIRONMENT", "")
    for folder in (*((named,) if named else ()), *_FOLDERS):
        path = repo / folder / "bin" / "python"
        if path.exists():
            yield path, f"the environment {folder} of the repository"
    poetry = _poetry_environment(repo, environ)
    if poetry:
        yield poetry, f"poetry's environment {poetry.parent.parent}"
    for path in sorted(path for folder in _TASK_RUNNERS for path in repo.glob(f"{folder}/*/bin/python")):
        yield path, f"the environment {path.parent.parent.relative_to(repo)} of the repository"
    for name in ("python3", "python"):
        for entry in environ.get("PATH", "").split(":"):
            path = Path(entry or ".") / name
            if (
                os.access(path, os.X_OK)
                and path.is_file()
                and Path(entry).resolve() != Path(sys.prefix).resolve() / "bin"
            ):
                yield path, f"{name}{_ON_PATH}"
                break


def _poetry_environment(repo: Path, environ: Mapping[str, str]) -> Path | None:
    """Ask poetry for its environment when the project is a poetry project."""
    if not (repo / "poetry.lock").exists():
        return None
    poetry = shutil.which("poetry", path=environ.get("PATH"))
    if poetry is None:
        return None
    done = process.run(
        [poetry, "env", "info", "--path"],
        cwd=repo,
        env=child_environment(environ, {}),
        timeout_s=20,
        merge_stderr=False,
    )
    path = Path(done.text.strip()) / "bin" / "python"
    return path if done.exit_code == 0 and path.exists() else None


def _resolved(repo: Path, setting: str) -> Path:
    if "/" not in setting:
        return Path(shutil.which(setting) or setting)
    return repo / Path(setting).expanduser()


def _probed(path: Path, source: str, environ: Mapping[str, str]) -> Interpreter | None:
    """Start an interpreter and ask it about itself; None when it does not answer."""
    env = child_environment(environ, {"PYTHONDONTWRITEBYTECODE": "1"})
    env.pop("PYTHONPATH", None)
    try:
        done = process.run([str(path), "-c", _PROBE], cwd=Path("/"), env=env, timeout_s=20, merge_stderr=False)
        value: dict[str, Any] = json.loads(done.output) if done.exit_code == 0 else {}
    except (ToolchainError, ValueError):
        return None
    if not value or tuple(value["version"]) < (3, 8):
        return None
    own = Path(value["prefix"]).resolve() == Path(sys.prefix).resolve()
    user_site = str(value["user_site"])
    return Interpreter(
        path=Path(value["path"] or path.absolute()),
        source=source,
        version=tuple(value["version"]),
        has_pytest=bool(value["has"]["pytest"]),
        user_site=user_site if user_site and Path(user_site).is_dir() else "",
        own=own,
    )
