"""One request in several parts: the run that plans it, and the tasks that its parts become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from agentforge.app.intake.repositories import named_repositories, repository_around
from agentforge.app.tasks.runs import create
from agentforge.app.tasks.start_options import StartOptions
from agentforge.canonical import digest_value
from agentforge.config.repositories import known_repositories
from agentforge.config.settings import load
from agentforge.errors import RepositoryError, UsageError
from agentforge.events.kinds.dependencies import PartStarted
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.stages import SPLIT_ORDER
from agentforge.pipeline.workflows.split.parts import PLAN, REPOSITORIES, named_rows, part_after, part_of, part_request
from agentforge.store.log.reader import first_record
from agentforge.store.tasks.folders import tasks_folder
from agentforge.workspace.git.repository import Git


def planned(options: StartOptions, names: Sequence[str], *, cwd: Path, environ: Mapping[str, str]) -> StartOptions:
    """Turn what was asked of one or several repositories into the options of the run that plans it.

    The run lives in the first repository and binds all of them at the tips of their default branches.

    Args:
        names: of the repositories; none = the one around `cwd`.
    Raises:
        UsageError: a repository is not known, or to the project around `cwd` only.
        RepositoryError: one of them is not where the registry says, or has no such branch.
    """
    entries = named_repositories(names, cwd=cwd, environ=environ) if names else [repository_around(cwd, environ)]
    known = known_repositories(environ)
    for entry in entries:
        if entry.name not in known or known[entry.name].path != entry.path:
            raise UsageError(
                f"{entry.name} is known in this project only; its parts would not find each other",
                hint=f"agentforge repo add {entry.path} --name {entry.name}",
            )
    rows = [
        {
            "name": entry.name,
            "path": str(entry.path),
            "default_branch": entry.default_branch,
            "commit": Git.open(entry.path).resolve(f"refs/heads/{entry.default_branch}"),
        }
        for entry in entries
    ]
    return replace(
        options, cwd=entries[0].path, base=str(rows[0]["commit"]), workflow="split", bound={REPOSITORIES: rows}
    )


def begin_part(name: str, state: RunState, *, environ: Mapping[str, str]) -> PartStarted:
    """Make the task of a part; the one that was made by a process that died before it could say so is found again.

    Args:
        name: what the plan calls the part.
        state: of the run that planned it.
    Raises:
        AgentForgeError: no task was made; the plan can be resumed.
    Side effects: a run folder in the part's repository.
    """
    part = part_of(state, name)
    repo = str(part["repo"])
    named = next(row for row in named_rows(state) if row.get("name") == repo)
    path = Path(str(named["path"]))
    if not path.is_dir():
        raise RepositoryError(
            f"the repository {repo} is not at {path} any more",
            hint=f"put it back, then: agentforge resume {state.identity.run_id}",
        )
    task = _made_before(name, state, tasks_folder(path))
    own = {"part": name} if name != repo else {}
    if task is None:
        plan = {
            **own,
            "run_id": state.identity.run_id,
            "repo": repo,
            "path": state.identity.repo,
            "digest": digest_value(state.work.artifacts["plan"]),
        }
        options = StartOptions(
            request=part_request(part),
            cwd=path,
            mode=state.brief.mode,  # type: ignore[arg-type] # the state keeps the word
            approve=tuple(stage for stage in state.brief.approve if stage not in SPLIT_ORDER),
            model=state.brief.model if "/" in state.brief.model and "+" not in state.brief.model else None,
            limits=asdict(state.brief.limits),
            base=f"refs/heads/{named['default_branch']}",
            apply=state.brief.apply,
            after=part_after(state, part),
            bound={PLAN: plan},
        )
        made = create(options, settings=load(path, environ), environ=environ, watch=lambda _event, _state: None)
        task = made.state.identity.run_id
    first = first_record(tasks_folder(path) / task)
    return PartStarted(repo=repo, path=str(path), task_id=task, base_commit=str(first.get("base_commit", "")), **own)


def _made_before(name: str, state: RunState, folder: Path) -> str | None:
    """The task that names this plan and this part in its first record."""
    if not folder.is_dir():
        return None
    day = state.progress.started_at[:10].replace("-", "")
    for place in sorted(folder.iterdir(), reverse=True):
        if place.name < f"task-{day}":
            break
        digests = first_record(place).get("digests")
        plan = digests.get(PLAN) if isinstance(digests, Mapping) else None
        if not isinstance(plan, Mapping):
            continue
        if (plan.get("run_id"), plan.get("part") or plan.get("repo")) == (state.identity.run_id, name):
            return place.name
    return None
