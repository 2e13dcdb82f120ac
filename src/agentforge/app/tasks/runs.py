"""The use cases that drive a task: start, resume, abort. Each opens what it needs and closes it again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.agent.limits import exhausted
from agentforge.app.composition.assembly import Models, wire
from agentforge.app.composition.base_commit import base_commit
from agentforge.app.composition.run_result import RunResult
from agentforge.app.composition.running_versions import program_versions
from agentforge.app.composition.secret_words import hidden_keys, without_secrets
from agentforge.app.tasks.added_stages import added_now, taken_now
from agentforge.app.tasks.dependents_hook import wake_on_the_way
from agentforge.app.tasks.examiner import examiner_of
from agentforge.app.tasks.limit_changes import GivenLimits, raised
from agentforge.app.tasks.log_heads import LEAVING_S, drop_head, keep_head, open_task
from agentforge.config.paths import data_dir
from agentforge.errors import AgentForgeError, ConflictError, LockedError, ModelNotConfigured, StorageError, UsageError
from agentforge.events import kinds
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.frozen import dataclass
from agentforge.pipeline.engine.controller import run_pipeline
from agentforge.pipeline.stages import SMALL
from agentforge.store.log.clock import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.tasks.folders import find_task, new_task_folder
from agentforge.workspace.processes.orphans import end_orphans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentforge.config.settings import Settings
    from agentforge.events.kinds import Event
    from agentforge.events.state.run_state import RunState
    from agentforge.hooks.engine import HookEngine
    from agentforge.pipeline.model.runtime import Runtime
    from agentforge.workspace.git.repository import Git

Watch = Callable[["Event", "RunState"], None]

_LONGEST_REQUEST = 1_000_000
_LEFT_OUT_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """What `start` was asked to do.

    Attributes:
        cwd: any folder of the repository.
        approve: stages whose artifact waits for approval.
        model: `provider/name`, None = by the settings.
        limits: those of events.state.Limits that were set.
        base: revision to start from, None = HEAD.
        tests: files or folders of tests that the user supplies.
        workflow: "", "fix" or "split".
        violations: the findings that a fix repairs, as they were measured at the base.
        after: what other tasks must reach first: {task_id, required_stage, repo}.
        bound: what else the first record binds, under its digests.
        pull: what it has to do with a pull request, see kinds.RunStarted.
        refactoring: a change that the run carries out by syntax tree and without a model, as RunStarted holds it.
        candidates, candidates_from: independent attempts, and the stage from which on they are independent.
    """

    request: str
    cwd: Path
    mode: kinds.Mode = "autonomous"
    approve: tuple[str, ...] = ()
    model: str | None = None
    limits: Mapping[str, int | float | None] = field(default_factory=dict)
    base: str | None = None
    include_dirty: bool = False
    apply: bool = False
    tests: tuple[str, ...] = ()
    workflow: str = ""
    violations: tuple[Mapping[str, object], ...] = ()
    after: tuple[Mapping[str, object], ...] = ()
    bound: Mapping[str, object] = field(default_factory=dict)
    pull: Mapping[str, object] = field(default_factory=dict)
    candidates: int = 1
    candidates_from: str = "green"
    refactoring: Mapping[str, object] = field(default_factory=dict)


def start(options: StartOptions, *, settings: Settings, environ: Mapping[str, str], watch: Watch) -> RunResult:
    """Create a task and drive it until it is delivered, ended, or waits for a human.

    Raises:
        AgentForgeError: nothing was created. Once the task exists, an error is in the result instead.
    Side effects: a run folder under `.agentforge/tasks`, a worktree under the data directory.
    """
    began = time.monotonic()
    git, models, log = _begun(options, settings=settings, environ=environ, watch=watch, graded=True)
    return _drive(log, settings=settings, environ=environ, models=models, began=began, git=git)


def create(options: StartOptions, *, settings: Settings, environ: Mapping[str, str], watch: Watch) -> RunResult:
    """Create a task and leave it to somebody else to drive, at another machine where the settings name a remote.

    Raises:
        AgentForgeError: nothing was created.
    Side effects: a run folder under `.agentforge/tasks`.
    """
    git, models, log = _begun(options, settings=settings, environ=environ, watch=watch)
    models.close()
    with log:
        if settings.text("fleet.remote"):
            from agentforge.app.sync.travel import follow

            follow(log, git, settings=settings)
        return RunResult(state=log.state, folder=log.folder, head=log.head, records=log.length)


def _begun(
    options: StartOptions,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    watch: Watch,
    graded: bool = False,
) -> tuple[Git, Models, RunLog]:
    """A task whose first record stands."""
    from agentforge.workspace.git.repository import Git

    if not options.request.strip():
        raise UsageError(
            "the request is empty", hint='say what to build: agentforge start "Add a --json flag to export"'
        )
    if len(options.request) > _LONGEST_REQUEST:
        raise UsageError(
            f"the request has {len(options.request)} characters, {_LONGEST_REQUEST} at most",
            hint="put the details into a file of the repository and name it in the request",
        )
    git = Git.open(options.cwd)
    models = Models(settings=settings, environ=environ, flag=options.model)
    log = _create(options, git, models, settings=settings, environ=environ, watch=watch, graded=graded)
    if Path(log.state.worktree).exists():  # of a run of the same name whose folder was deleted
        from agentforge.app.tasks.workplace import drop_worktree

        drop_worktree(git, log.state)
    return git, models, log


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
    from agentforge.app.tasks.workplace import moved
    from agentforge.workspace.git.repository import Git

    began = time.monotonic()
    git = Git.open(cwd)
    log = open_task(find_task(git.top, task_id)[1], environ, leaving_s=LEAVING_S)
    state = log.state
    if state.worktree:
        end_orphans(Path(state.worktree))
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
    return _drive(log, settings=settings, environ=environ, models=models, began=began, git=git)


def _changed_limits(state: RunState, limits: GivenLimits) -> dict[str, int | float | None]:
    """The limits that hold from now on; a run that is over has none."""
    if state.outcome:
        raise ConflictError(
            f"{state.run_id} has ended: {state.outcome}", hint="start a new task, or look at it with inspect"
        )
    return raised(state, limits)


def _settle_limits(log: RunLog, text: str) -> None:
    """Answer the questions about limits; "" leaves them open."""
    for item in log.state.open_escalations if text else ():
        if item.kind == "limit":
            log.append(kinds.EscalationResolved(escalation_id=item.escalation_id, decision="approve", text=text))


# -- below: making, driving, leaving a run


def _model_name(options: StartOptions, models: Models) -> str:
    """The model of the run; a fix and a refactoring may do without one: it is missed when it is asked and not before."""
    try:
        return models.of_stage("").name
    except ModelNotConfigured:
        if (options.workflow or options.refactoring) and options.model is None:
            return ""
        raise


def _is_examined(models: Models) -> bool:
    """Whether the examiner's model can answer; one that is not to be had is told in the report."""
    try:
        return models.answers(EXAMINE)
    except AgentForgeError:
        return True


def _create(
    options: StartOptions,
    git: Git,
    models: Models,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    watch: Watch,
    graded: bool,
) -> RunLog:
    from agentforge.app.composition.provenance import digests, supplied_tests
    from agentforge.workspace.git.worktree import branch_name, names_with_branches, worktree_of

    profile = SMALL if options.refactoring else "" if options.workflow else models.profile()
    tests = supplied_tests(options.tests, cwd=options.cwd, repo=git.top)
    request = hidden_keys(options.request, environ)
    added = () if options.workflow else added_now(git.top, settings=settings, environ=environ)
    now = utc_now()
    title = f"plan {request}" if options.workflow == "split" else request
    besides = names_with_branches(git)
    task, folder = new_task_folder(git.top, title, day=now[:10].replace("-", ""), besides=besides)
    with _removed_on_error(folder):
        first = kinds.RunStarted(
            kind="task",
            run_id=task,
            request=request,
            repo=str(git.top),
            base_commit=base_commit(options, git, data=data_dir(environ)),
            base_ref=git.found_on.removeprefix("refs/heads/") if git.found_on else None,
            worktree=str(worktree_of(git, data_dir=data_dir(environ), task_id=task).path),
            branch=str(options.pull.get("branch") or branch_name(task)),
            mode=options.mode,
            approve=options.approve,
            model=_model_name(options, models),
            limits={**models.limits(profile), **options.limits},
            tests=tuple(tests),
            digests={},
            versions=program_versions(),
            apply=options.apply,
            workflow=options.workflow,
            candidates=options.candidates,
            candidates_from=options.candidates_from,
            profile=profile,
            grade=models.grade() if profile and graded and not options.refactoring else {},
            violations=options.violations,
            after=options.after,
            pull=options.pull,
            refactoring=options.refactoring,
            added=tuple(one.row for one in added),
            examiner={} if options.workflow or profile or not _is_examined(models) else examiner_of(settings),
            left_out=() if options.include_dirty else tuple(git.is_dirty()[:_LEFT_OUT_NAMED]),
        )
        first = replace(first, digests={**digests(settings, git.top, folder, tests, added), **options.bound})
        drop_head(environ, folder)  # of a run of the same name whose folder was deleted
        log = RunLog.create(folder, first, clock=utc_now)
    log.subscribe(watch)
    watch(first, log.state)
    return log


@contextmanager
def _removed_on_error(folder: Path) -> Iterator[None]:
    """A run whose log never began leaves no folder behind."""
    try:
        yield
    except BaseException:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
        raise


def _drive(
    log: RunLog,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    models: Models,
    began: float,
    git: Git | None = None,
) -> RunResult:
    """Drive a run and close it, whatever happens; an interruption is recorded where the log still takes it."""
    from agentforge.workspace.git.repository import Git

    error: AgentForgeError | None = None
    runtime: Runtime | None = None
    wake_on_the_way(log, environ)
    with log, ExitStack() as outside:
        with _recorded_interruption(log):
            try:
                if _reaches_out(settings, environ):
                    from agentforge.app.tasks.subscribers import reach_out

                    reach_out(log, git or Git(Path(log.state.repo)), outside, settings=settings, environ=environ)
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
    from agentforge.app.tasks.post_run import afterwards

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
    if log.state.outcome:
        return
    try:
        log.append(kinds.RunInterrupted(reason=error.message, slug=slug or error.slug))
        for run in hooks.on_error(str(error)).runs if hooks is not None else ():
            log.append(run)
    except (StorageError, LockedError, ConflictError):
        return


def _interrupted_step(state: RunState) -> int:
    """The step that a dead process left unfinished; one that waits for a human's answer was not interrupted."""
    turn = state.turn
    asked = any(item.context.get("step") == turn.step for item in state.escalations.values())
    under_way = turn.calling or turn.replied
    return turn.step if under_way and not asked else 0


def _flag(state: RunState) -> str | None:
    """The model that the run was started with; a chain is not a flag."""
    return state.model if "/" in state.model and "+" not in state.model else None
