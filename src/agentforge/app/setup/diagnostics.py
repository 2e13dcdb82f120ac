"""What the doctor looks at: programs, sandbox, the project's tests, model, settings, disk. One look, one function."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from agentforge import __version__
from agentforge.app.setup.session_diagnostics import Check, answering, session_looks, stages_look
from agentforge.config.dotenv import merged_environment
from agentforge.config.model_choice import explain, keyless_fallbacks
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings, load
from agentforge.config.suite_record import Suite, last_run
from agentforge.errors import AgentForgeError, ModelNotConfigured
from agentforge.frozen import dataclass
from agentforge.store.log.files import storage_error
from agentforge.suite import Counted, Rig, count_tests, detect
from agentforge.testing.plan import TestPlan
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes import process
from agentforge.workspace.sandbox.box import (
    Preference,
    choose,
    forbids_nesting,
    landlock_missing_because,
    missing_because,
)
from agentforge.workspace.sandbox.escapes import Attempt, try_escapes

_INSTALL = "install it (apt install bubblewrap, dnf install bubblewrap) and allow user namespaces"
_VERSION_TIMEOUT_S = 10.0
_COUNTING_S = 30.0
_MIN_FREE_BYTES = 500 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Everything that was looked at.

    Attributes:
        escapes: ways out of the sandbox that were tried; empty without a sandbox.
    """

    checks: tuple[Check, ...]
    escapes: tuple[Attempt, ...]


def examine(folder: Path, environ: Mapping[str, str], *, call: bool = False) -> Examination:
    """Look at everything that a task or a session in `folder` would need.

    Args:
        call: ask the model for one word.
    Side effects: runs programs with `--version`; tries to get out of the sandbox, with baits in the home and in a temporary
    folder; a file comes and goes in the data folder.
    """
    settings, found = _settings(folder, environ)
    escapes, floor = _escapes(settings, environ)
    looks: tuple[Callable[[], Check], ...] = (
        _python,
        lambda: _git(environ),
        lambda: _repository(folder),
        lambda: _sandbox(settings, environ),
        lambda: floor,
        lambda: _suite("attacks", environ),
        lambda: _suite("injections", environ),
        lambda: _tests(folder, settings, environ),
        lambda: _program("ripgrep", "rg", environ, missing="searching falls back to a slow scan"),
        lambda: _program("ruff", "ruff", environ, missing="changed Python files are not linted"),
        lambda: _program("ty", "ty", environ, missing="changed Python files are not type-checked"),
        lambda: _model(folder, settings, environ),
        *((lambda: answering(settings, environ),) if call else ()),
        lambda: _data(environ),
        lambda: stages_look(folder, settings, environ),
        *session_looks(folder, settings, environ),
    )
    return Examination(checks=(found, *(look() for look in looks)), escapes=escapes)


def _settings(folder: Path, environ: Mapping[str, str]) -> tuple[Settings, Check]:
    """The settings; where they are wrong, the defaults stand in so that the other looks can go on."""
    try:
        settings = load(folder, merged_environment(environ, cwd=folder))
    except AgentForgeError as exc:
        bare = load(Path("/"), {"AGENTFORGE_HOME": "/nonexistent", "HOME": "/nonexistent"})
        return bare, Check(name="settings", status="error", message=exc.message, detail=exc.hint)
    files = ", ".join(settings.files()) or "no settings files; the defaults apply"
    if settings.waiting:
        named = ", ".join(one.key for one in settings.waiting)
        detail = (
            f"not used, because they would protect the project less: {named}; look at them, then run agentforge trust"
        )
        return settings, Check(name="settings", status="warning", message=files, detail=detail)
    return settings, Check(name="settings", status="ok", message=files)


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    message = f"{version} at {sys.executable}"
    if importlib.util.find_spec("_sqlite3") is None:
        detail = "it was built without sqlite3, which a queue needs: install AgentForge with a complete Python for one"
        return Check(name="python", status="warning", message=message, detail=detail)
    return Check(name="python", status="ok", message=message)


def _git(environ: Mapping[str, str]) -> Check:
    path = shutil.which("git", path=environ.get("PATH"))
    if path is None:
        return Check(name="git", status="error", message="not found", detail="install git (apt install git)")
    return Check(name="git", status="ok", message=_version_of(path, environ))


def _repository(folder: Path) -> Check:
    try:
        git = Git.open(folder)
        dirty = git.is_dirty()
    except AgentForgeError as exc:
        return Check(name="repository", status="warning", message=exc.message, detail=exc.hint)
    changed = (
        f", {len(dirty)} uncommitted changes are not part of a task (--include-dirty takes them along)" if dirty else ""
    )
    return Check(name="repository", status="ok", message=f"{git.top} at {git.head()[:10]}{changed}")


def _sandbox(settings: Settings, environ: Mapping[str, str]) -> Check:
    name = "bubblewrap"
    if settings.get("sandbox.kind") == "none":
        where = settings.origin("sandbox.kind")
        return Check(
            name=name, status="warning", message=f"switched off in {where}", detail="commands run with your own rights"
        )
    reason = missing_because(environ)
    if reason and not landlock_missing_because():
        return Check(
            name=name, status="warning", message=f"{reason}; AgentForge uses Landlock instead", detail=_INSTALL
        )
    if reason:
        detail = (
            f"{_INSTALL}; Landlock: {landlock_missing_because()}. Until then the model gets no shell and tests run with your "
            'own rights. [sandbox] kind = "none" in your own settings accepts that'
        )
        return Check(name=name, status="error", message=reason, detail=detail)
    path = shutil.which("bwrap", path=environ.get("PATH")) or "bwrap"
    message = f"{_version_of(path, environ)}, ran a command"
    if not forbids_nesting(environ):
        detail = "it cannot forbid user namespaces inside (version 0.8 can): the filter of system calls does, where there is one"
        return Check(name=name, status="warning", message=message, detail=detail)
    return Check(name=name, status="ok", message=message)


def _suite(suite: Suite, environ: Mapping[str, str]) -> Check:
    """How the suite went when it was last played on this machine."""
    again = f"agentforge eval {suite}"
    try:
        last = last_run(suite, environ)
    except AgentForgeError as exc:
        return Check(name=suite, status="warning", message=exc.message, detail=exc.hint)
    if last is None:
        return Check(name=suite, status="ok", message=f"never played here ({again})")
    told = f"{last.summary} on {last.at[:10]} with {last.version}"
    if not last.ok:
        return Check(name=suite, status="warning", message=told, detail=f"see what got through: {again}")
    stale = "" if last.version == __version__ else f", this is {__version__} ({again})"
    return Check(name=suite, status="ok", message=told + stale)


def _escapes(settings: Settings, environ: Mapping[str, str]) -> tuple[tuple[Attempt, ...], Check]:
    """Try to get out of the sandbox with a closed network, and sum up what held."""
    name = "escapes"
    try:
        sandbox = choose(cast("Preference", settings.text("sandbox.kind", "auto")), environ)
        if sandbox.kind == "none":
            return (), Check(name=name, status="warning", message="not tried: there is no sandbox")
        attempts = try_escapes(sandbox, environ)
    except AgentForgeError as exc:
        return (), Check(name=name, status="error", message=exc.message, detail=exc.hint)
    tried = [one for one in attempts if one.held is not None]
    open_ways = [one for one in tried if not one.held]
    message = f"{len(tried) - len(open_ways)} of {len(tried)} ways out of {sandbox.kind} are closed"
    if not open_ways:
        return attempts, Check(name=name, status="ok", message=message)
    detail = "open: " + "; ".join(f"{one.what} ({one.detail})" for one in open_ways)
    return attempts, Check(name=name, status="warning", message=message, detail=detail)


def _tests(folder: Path, settings: Settings, environ: Mapping[str, str]) -> Check:
    try:
        plan = detect(folder, settings=settings.table("test"), environ=environ)
    except AgentForgeError as exc:
        return Check(name="tests", status="warning", message=exc.message, detail=exc.hint)
    if plan.problems or plan.runner == "none":
        detail = "; ".join(plan.problems) or "set [test] command and junit"
        return Check(name="tests", status="warning", message=plan.source or "no tests were found", detail=detail)
    more = [f"before the tests: {command}" for command in plan.prepare]
    more += [f"left out: {one}" for one in plan.left_out]
    message = "; ".join((f"{plan.shown_command} ({plan.source})", *more))
    counted = _counted(folder, plan, settings, environ)
    if counted is None:
        return Check(name="tests", status="ok", message=f"{plan.runner}: {message}")
    missed = [
        f"{len(cause.files)} test file{'' if len(cause.files) == 1 else 's'} cannot be loaded: {cause.text} "
        f"({', '.join(cause.files[:3])}){f'; {cause.remedy}' if cause.remedy else ''}"
        for cause in counted.causes
    ]
    return Check(
        name="tests",
        status="warning" if missed else "ok",
        message=f"{plan.runner}: {counted.text}; {message}",
        detail="; ".join(missed),
    )


def _counted(folder: Path, plan: TestPlan, settings: Settings, environ: Mapping[str, str]) -> Counted | None:
    """The number of tests at the last commit, within half a minute; None where there is no commit or no sandbox."""
    try:
        git = Git.open(folder)
        sandbox = choose(cast("Preference", settings.text("sandbox.kind", "auto")), environ)
        with tempfile.TemporaryDirectory(prefix="agentforge-doctor-") as place:
            rig = Rig(
                plan=plan,
                git=git,
                mount_at=git.top,
                sandbox=sandbox,
                scratch=Path(place),
                timeout_s=_COUNTING_S,
                cache=None,
            )
            return count_tests(rig, tree=git.tree_of(git.head()))
    except AgentForgeError:
        return None


def _program(name: str, program: str, environ: Mapping[str, str], *, missing: str) -> Check:
    """A program that comes with AgentForge (beside the interpreter), or stands on PATH."""
    beside = Path(sys.executable).parent / program
    path = str(beside) if beside.is_file() else shutil.which(program, path=environ.get("PATH"))
    if path is None:
        return Check(name=name, status="warning", message="not found", detail=missing)
    return Check(name=name, status="ok", message=_version_of(path, environ))


def _model(folder: Path, settings: Settings, environ: Mapping[str, str]) -> Check:
    whole = merged_environment(environ, cwd=folder)
    try:
        choice = explain(settings, whole)
    except ModelNotConfigured as exc:
        return Check(name="model", status="warning", message=exc.message, detail=exc.hint)
    except AgentForgeError as exc:
        return Check(name="model", status="error", message=exc.message, detail=exc.hint)
    message = f"{choice.spec.full_name}, because {choice.reason}"
    without = keyless_fallbacks(settings, whole, now=choice.spec.provider)
    if without:
        told = ", ".join(f"{name} (set {key})" for name, key in without)
        return Check(name="model", status="warning", message=message, detail=f"fallbacks without a key: {told}")
    return Check(name="model", status="ok", message=message)


def _data(environ: Mapping[str, str]) -> Check:
    name = "data folder"
    try:
        folder = data_dir(environ)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(b"x")
            os.fsync(file.fileno())
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = shutil.disk_usage(folder).free
    except AgentForgeError as exc:
        return Check(name=name, status="error", message=exc.message, detail=exc.hint)
    except OSError as exc:
        told = storage_error(exc, data_dir(environ))
        return Check(name=name, status="error", message=told.message, detail=told.hint)
    message = f"{folder}, {free / 1024**3:.1f} GiB free"
    if free < _MIN_FREE_BYTES:
        return Check(
            name=name,
            status="warning",
            message=message,
            detail="less than 500 MiB are free, so a task may run out of space",
        )
    return Check(name=name, status="ok", message=message)


def _version_of(path: str, environ: Mapping[str, str]) -> str:
    try:
        done = process.run([path, "--version"], cwd=None, env=dict(environ), timeout_s=_VERSION_TIMEOUT_S)
    except AgentForgeError as exc:
        return f"{path} cannot be run: {exc.message}"
    first = done.text.strip().splitlines()
    return f"{first[0]} at {path}" if first else path
