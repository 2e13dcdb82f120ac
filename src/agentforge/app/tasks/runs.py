"""The use cases that drive a task: start, create, resume. Each opens what it needs and closes it again.

A run is driven until it ends or waits; why it stopped is recorded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agentforge.agent import exhausted
from agentforge.app.composition.assembly import Models, wire
from agentforge.app.composition.run_inputs import program_versions
from agentforge.app.composition.run_result import RunResult
from agentforge.app.sync.travel import follow
from agentforge.app.tasks.added_stages import taken_now
from agentforge.app.tasks.creation import begun
from agentforge.app.tasks.dependents import wake
from agentforge.app.tasks.limit_changes import GivenLimits, raised
from agentforge.app.tasks.log_heads import LEAVING_S, keep_head, open_task
from agentforge.app.tasks.start_options import StartOptions, Watch
from agentforge.app.tasks.workplace import moved
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
from agentforge.store.tasks.folders import find_task
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.orphans import end_orphans


def start(options: StartOptions, *, settings: Settings, environ: Mapping[str, str], watch: Watch) -> RunResult:
    """Create a task and drive it until it is delivered, ended, or waits for a human.

    Raises:
        AgentForgeError: nothing was created. Once the task exists, an error is in the result instead.
    Side effects: a run folder under `.agentforge/tasks`, a worktree under the data directory.
    """
    began = time.monotonic()
    git, models, log = begun(options, settings=settings, environ=environ, watch=watch, graded=True)
    return drive_run(log, settings=settings, environ=environ, models=models, began=began, git=git)


def create(options: StartOptions, *, settings: Settings, environ: Mapping[str, str], watch: Watch) -> RunResult:
    """Create a task and leave it to somebody else to drive, at another machine where the settings name a remote.

    Raises:
        AgentForgeError: nothing was created.
    Side effects: a run folder under `.agentforge/tasks`.
    """
    git, models, log = begun(options, settings=settings, environ=environ, watch=watch)
    models.close()
    with log:
        if settings.text("fleet.remote"):
            follow(log, git, settings=settings)
        return RunResult(state=log.state, folder=log.folder, head=log.head, records=log.length)


def resume(
    cwd: Path,
    task_id: str,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    watch: Watch,
    limits: GivenLimits | None = None,
    model: str | None = None,
    limiter: Callable[[str], None] | None = None,
    changed_stages: bool = False,
) -> RunResult:
    """Go on with a task where its log ends.

    New limits also answer the escalations that asked for them; a limit that holds no longer (the minute of the breaker is
    over) is no question any more.

    Args:
        limiter: waits until one more request may be sent to a provider.
        changed_stages: go on with the stages from outside as they are now.
    Raises:
        LockedError: another process drives it.
        ConflictError: it is over.
        IntegrityError: its log is not what was written.
        UsageError: an increase of a limit that the task does not have.
    """
    began = time.monotonic()
    git = Git.open(cwd)
    log = open_task(find_task(git.top, task_id)[1], environ, leaving_s=LEAVING_S)
    state = log.state
    if state.identity.worktree:
        end_orphans(Path(state.identity.worktree))
    try:
        changed = _changed_limits(state, limits or {})
        added = taken_now(log, git.top, settings=settings, environ=environ) if changed_stages else ()
    except AgentForgeError:
        log.close()
        raise
    log.subscribe(watch)
    log.append(
        kinds.RunResumed(
            pid=os.getpid(),
            versions=program_versions(),
            limits=changed,
            interrupted_step=_interrupted_step(state),
            added=added,
            **moved(state, git, data=data_dir(environ)),
        )
    )
    _settle_limits(log, "new limits" if limits else "" if exhausted(log.state) else "no limit holds any longer")
    models = Models(settings=settings, environ=environ, flag=model or _flag(state), limiter=limiter)
    return drive_run(log, settings=settings, environ=environ, models=models, began=began, git=git)


def _changed_limits(state: RunState, limits: GivenLimits) -> dict[str, int | float | None]:
    """The limits that hold from now on; a run that is over has none."""
    if state.progress.outcome:
        raise ConflictError(
            f"{state.identity.run_id} has ended: {state.progress.outcome}",
            hint="start a new task, or look at it with inspect",
        )
    return raised(state, limits)


def _settle_limits(log: RunLog, text: str) -> None:
    """Answer the questions about limits; "" leaves them open."""
    for item in log.state.people.open_escalations if text else ():
        if item.kind == "limit":
            log.append(kinds.EscalationResolved(escalation_id=item.escalation_id, decision="approve", text=text))


def _interrupted_step(state: RunState) -> int:
    """The step that a dead process left unfinished; one that waits for a human's answer was not interrupted."""
    turn = state.progress.turn
    asked = any(item.context.get("step") == turn.step for item in state.people.escalations.values())
    under_way = turn.calling or turn.replied
    return turn.step if under_way and not asked else 0


def _flag(state: RunState) -> str | None:
    """The model that the run was started with; a chain is not a flag."""
    return state.brief.model if "/" in state.brief.model and "+" not in state.brief.model else None


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
