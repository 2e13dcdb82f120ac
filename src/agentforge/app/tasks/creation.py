"""The creation of a task: its folder, and the first record of its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from agentforge.app.composition.assembly import Models
from agentforge.app.composition.run_inputs import base_commit, program_versions
from agentforge.app.tasks.added_stages import added_now
from agentforge.app.tasks.external_agents import examiner_of
from agentforge.app.tasks.log_heads import drop_head
from agentforge.app.tasks.start_options import StartOptions, Watch
from agentforge.app.tasks.workplace import drop_worktree
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, ModelNotConfigured, UsageError
from agentforge.events import kinds
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.pipeline.model.profile import PROFILES, SMALL
from agentforge.pipeline.stages import WORKFLOWS
from agentforge.safety.text.redaction import hidden_keys
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.tasks.folders import new_task_folder
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.worktree import branch_name, names_with_branches, worktree_of

_LONGEST_REQUEST = 1_000_000
_LEFT_OUT_NAMED = 20


def begun(
    options: StartOptions, *, settings: Settings, environ: Mapping[str, str], watch: Watch, graded: bool = False
) -> tuple[Git, Models, RunLog]:
    """Create a task whose first record stands.

    Args:
        graded: whether the record holds what the model has shown on this machine.
    Raises:
        UsageError: the request is empty or too long.
    """
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
    if Path(log.state.identity.worktree).exists():  # of a run of the same name whose folder was deleted
        drop_worktree(git, log.state)
    return git, models, log


def _model_name(options: StartOptions, models: Models) -> str:
    """The model of the run; a fix and a refactoring may do without one: it is missed when it is asked and not before."""
    try:
        return models.of_stage("").name
    except ModelNotConfigured:
        if (not WORKFLOWS[options.workflow].needs_model or options.refactoring) and options.model is None:
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

    workflow = WORKFLOWS[options.workflow]
    profile = SMALL if options.refactoring else models.profile() if workflow.takes_added else ""
    tests = supplied_tests(options.tests, cwd=options.cwd, repo=git.top)
    request = hidden_keys(options.request, environ)
    led = PROFILES[profile]
    added = added_now(git.top, settings=settings, environ=environ) if workflow.takes_added else ()
    now = utc_now()
    title = workflow.title.format(request=request)
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
            grade=models.grade() if led.is_graded and graded and not options.refactoring else {},
            violations=options.violations,
            after=options.after,
            pull=options.pull,
            refactoring=options.refactoring,
            added=tuple(one.row for one in added),
            examiner=examiner_of(settings) if workflow.takes_added and led.is_examined and _is_examined(models) else {},
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
