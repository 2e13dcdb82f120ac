"""Opening the log of a session: a new one, one to go on with, one that agentforge-harness 0.1 left as a snapshot."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge import __version__
from agentforge.app.sessions.checkpoints import talk_value
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.errors import IntegrityError, LockedError, UsageError
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Talk
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.sessions import folders as sessions
from agentforge.store.sessions.imports import read_snapshot_file
from agentforge.store.sessions.views import SessionViews

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import ChatOptions

_USUAL = {"work_mode": "build"}
_RELATIVE = ("budget_tokens", "budget_usd", "deadline_s", "max_steps")


def begin_log(
    options: ChatOptions,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    session_id: str = "",
    talk: Talk | None = None,
    parent: str | None = None,
) -> RunLog:
    """Start the log of a new session.

    Args:
        session_id: "" = a new one.
        talk: a conversation that it goes on from: of a fork, of an import.
        parent: the session that it was forked from.
    Side effects: a run folder in the data directory.
    """
    session_id = session_id or sessions.new_session_id()
    folder = sessions.make_run_folder(data_dir(environ), session_id)
    first = _started(session_id, options, settings, parent=parent)
    log = RunLog.create(folder, first, clock=utc_now, views=SessionViews)
    if talk is not None:
        where = f"fork:{parent}" if parent else "import"
        log.append(kinds.CheckpointRestored(checkpoint_id=where, what="conversation", talk=talk_value(talk)))
    _switch(log, {"name": options.name, "work_mode": options.work_mode, "model": options.model})
    return log


def open_log(options: ChatOptions, *, settings: Settings, environ: Mapping[str, str]) -> tuple[RunLog, tuple[str, ...]]:
    """Go on with a session; limits that are asked for count from here.

    Returns:
        The log, and what was put right in an imported session.
    Raises:
        UsageError: there is no such session.
        IntegrityError: it was altered or damaged.
        LockedError: another process has it open.
    """
    data = data_dir(environ)
    try:
        session_id = sessions.find_session(data, options.session)
    except UsageError:
        file = snapshot_file(data, options.session)
        if file is None:
            raise
        return _imported(file, options, settings=settings, environ=environ)
    try:
        log = RunLog.open(sessions.run_folder(data, session_id), clock=utc_now, views=SessionViews)
    except IntegrityError as error:
        error.hint = f"agentforge sessions fork {session_id} begins a new session with what can be read of it"
        raise
    except LockedError as error:
        error.hint = f"{error.hint}, or begin another session without --continue and --resume"
        raise
    if not Path(log.state.identity.repo).is_dir():
        log.close()
        raise UsageError(
            f"the session's folder {log.state.identity.repo} is gone",
            hint=f"make it again, or: agentforge export {session_id}",
        )
    limits = _from_here(options.limits, log.state)
    log.append(kinds.RunResumed(pid=os.getpid(), versions=versions(), limits=limits))
    given = {"name": options.name, "work_mode": options.work_mode, "model": options.model}
    _switch(log, {**given, "approval": options.approval})
    return log, ()


def versions() -> dict[str, object]:
    """What drives the session."""
    return {"agentforge": __version__, "python": ".".join(map(str, sys.version_info[:3]))}


def _switch(log: RunLog, wanted: Mapping[str, str | None]) -> None:
    """Record what was asked for, so that the session goes on with it the next time, too."""
    now = log.state.talk.settings
    changes = {name: value for name, value in wanted.items() if value and now.get(name, _USUAL.get(name)) != value}
    if changes:
        log.append(kinds.SessionChanged(changes=changes))


def _imported(
    file: Path, options: ChatOptions, *, settings: Settings, environ: Mapping[str, str]
) -> tuple[RunLog, tuple[str, ...]]:
    foreign = read_snapshot_file(file)
    there = Path(foreign.cwd) if foreign.cwd and Path(foreign.cwd).is_dir() else options.cwd
    log = begin_log(
        replace(options, cwd=there), settings=settings, environ=environ, session_id=file.stem, talk=foreign.talk
    )
    return log, (f"{file.name} was imported", *foreign.notes)


def snapshot_file(data: Path, text: str) -> Path | None:
    """The snapshot file that is called so, or begins so; a checkpoint of agentforge-harness 0.1 can be gone on with, too."""
    for folder in ("sessions", "checkpoints"):
        files = sorted((data / folder).glob("*.json"))
        exact = [file for file in files if file.stem == text]
        found = exact or [file for file in files if text and file.stem.startswith(text)]
        if len(found) == 1:
            return found[0]
    return None


def _started(session_id: str, options: ChatOptions, settings: Settings, *, parent: str | None) -> kinds.RunStarted:
    limits = {**settings.limits(), "max_steps": None, "budget_tokens": None, **options.limits}
    return kinds.RunStarted(
        kind="session",
        run_id=session_id,
        request="",
        repo=str(options.cwd),
        base_commit="",
        worktree=str(options.cwd),
        model=options.model or "",
        limits=limits,
        digests={"settings": settings.digest(), "config": _shown_settings(settings, options)},
        versions=versions(),
        parent=parent,
    )


def _shown_settings(settings: Settings, options: ChatOptions) -> dict[str, object]:
    """The settings as the snapshot shows them: no secret, nothing of hooks and servers but that they are there."""
    keys = ("approval", "max_turns", "max_tool_output_tokens", "hooks_enabled", "skills_enabled", "allowed_tools")
    shown: dict[str, object] = {key: settings.get(key) for key in keys if settings.get(key) is not None}
    model = {
        name: settings.get(f"model.{name}")
        for name in ("provider", "name", "context_window", "max_output_tokens")
        if settings.get(f"model.{name}") is not None
    }
    if options.model:
        model["provider"], _, model["name"] = options.model.partition("/")
    return {**shown, "model": model, "cwd": str(options.cwd)}


def _from_here(limits: Mapping[str, int | float | None], state: RunState) -> dict[str, int | float | None]:
    totals = state.usage.totals
    used = {
        "budget_tokens": totals.prompt_tokens + totals.completion_tokens,
        "budget_usd": totals.cost_usd,
        "deadline_s": state.progress.active_s,
        "max_steps": totals.steps,
    }
    return {
        name: value + used[name] if value is not None and name in _RELATIVE else value for name, value in limits.items()
    }
