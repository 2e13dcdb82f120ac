"""Driving a run until it ends or waits, and recording why it stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agentforge.app.composition.assembly import Models, wire
from agentforge.app.composition.run_result import RunResult
from agentforge.app.tasks.dependents import wake
from agentforge.app.tasks.log_heads import keep_head
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, ConflictError, LockedError, StorageError
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.hooks import HookEngine
from agentforge.pipeline.engine.controller import run_pipeline
from agentforge.pipeline.model.runtime import Runtime
from agentforge.safety.text.redaction import without_secrets
from agentforge.store.log.run_log import RunLog
from agentforge.workspace.git.repository import Git


def wake_on_the_way(log: RunLog, environ: Mapping[str, str]) -> None:
    """Let the runs that wait for a stage of this one go on before its end."""
    waiting = data_dir(environ) / "waiting"

    def watch(event: kinds.Event, _state: RunState) -> None:
        if isinstance(event, kinds.StagePassed) and waiting.is_dir():
            wake(environ)

    log.subscribe(watch)


def drive_run(
    log: RunLog, *, settings: Settings, environ: Mapping[str, str], models: Models, began: float, git: Git | None = None
) -> RunResult:
    """Drive a run and close it, whatever happens; an interruption is recorded where the log still takes it."""
    error: AgentForgeError | None = None
    runtime: Runtime | None = None
    wake_on_the_way(log, environ)
    with log, ExitStack() as outside:
        with _recorded_interruption(log):
            try:
                if _reaches_out(settings, environ):
                    from agentforge.app.tasks.outreach import reach_out

                    reach_out(
                        log, git or Git(Path(log.state.identity.repo)), outside, settings=settings, environ=environ
                    )
                runtime = wire(log.state, log, settings=settings, environ=environ, models=models, opened=git)
                run_pipeline(log, runtime)
            except AgentForgeError as exc:
                error = without_secrets(exc, environ)
                if not isinstance(exc, LockedError):
                    _record_break(log, error, hooks=runtime.hooks if runtime is not None else None)
            finally:
                models.close()
        state = log.state

        keep_head(environ, log.folder, head=log.head, records=log.length)
        result = RunResult(
            state=state,
            folder=log.folder,
            head=log.head,
            records=log.length,
            duration_s=time.monotonic() - began,
            error=error,
        )
    from agentforge.app.tasks.outreach import afterwards

    return afterwards(result, settings=settings, environ=environ)


def _reaches_out(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether anything outside wants to know of the run; nothing is loaded for one that stays where it is."""
    wanted = any(settings.get(name) for name in ("fleet.remote", "notify", "telemetry"))
    return wanted or "OTEL_EXPORTER_OTLP_ENDPOINT" in environ


@contextmanager
def _recorded_interruption(log: RunLog) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        _record_break(log, AgentForgeError("interrupted by the user"), slug="interrupted")
        raise


def _record_break(log: RunLog, error: AgentForgeError, *, slug: str = "", hooks: HookEngine | None = None) -> None:
    """Record why the process stops, and tell the hooks; a log that is over or takes no more records keeps what it has."""
    if log.state.progress.outcome:
        return
    try:
        log.append(kinds.RunInterrupted(reason=error.message, slug=slug or error.slug))
        for run in hooks.on_error(str(error)).runs if hooks is not None else ():
            log.append(run)
    except (StorageError, LockedError, ConflictError):
        return
