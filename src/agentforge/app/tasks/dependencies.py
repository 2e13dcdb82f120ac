"""Looking at other runs: has a task reached the stage that this one needs, does a branch or a delivery hold the artifact?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from agentforge.config.repositories import known_repositories
from agentforge.errors import AgentForgeError
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.run_dependencies import Need, Sight, unmet
from agentforge.pipeline.stages import DELIVERY
from agentforge.pipeline.workflows.split.parts import satisfies_or_fails, versions_in
from agentforge.store.log.reader import LOG, Folded, fold
from agentforge.store.tasks.folders import list_tasks, tasks_folder
from agentforge.workspace.git.repository import Git


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A run of another place."""

    repo: Path
    folder: Path
    folded: Folded

    @property
    def state(self) -> RunState:
        return self.folded.state


def look_at(need: Need, state: RunState, *, environ: Mapping[str, str]) -> Sight:
    """See whether what a run needs is there, may come, or cannot come any more.

    Args:
        state: of the run that needs it.
    """
    mine = str(tasks_folder(Path(state.identity.repo)) / state.identity.run_id)
    try:
        sight = _look(need, state, environ)
    except AgentForgeError as exc:
        sight = Sight(status="failed", seen=exc.message)

    return sight if sight.status == "arrived" else replace(sight, trails=(mine, *sight.trails))


def _look(need: Need, state: RunState, environ: Mapping[str, str]) -> Sight:
    places = _places(state, environ)
    if need.repo and need.repo not in places:
        return Sight(status="failed", seen=f"no repository is known as {need.repo}: agentforge repo add PATH")
    if need.repo and not places[need.repo].is_dir():
        return Sight(status="failed", seen=f"the repository {need.repo} is not at {places[need.repo]} any more")
    if need.task_id:
        return _task_sight(need, state, places)
    known = known_repositories(environ, project=Path(state.identity.repo))
    branch = known[need.repo].default_branch if need.repo in known else ""
    return _standing(need, places[need.repo], branch) or _artifact_sight(need, places, branch)


def _places(state: RunState, environ: Mapping[str, str]) -> dict[str, Path]:
    """Repositories by name; the run's own comes first and is known as "" too."""
    own = Path(state.identity.repo)
    known = known_repositories(environ, project=own)
    return {"": own, **{name: entry.path for name, entry in known.items()}}


def _task_sight(need: Need, state: RunState, places: Mapping[str, Path]) -> Sight:
    found = _find(need, places)
    if found is None:
        where = f"in {need.repo}" if need.repo else "in any known repository"
        return Sight(status="failed", seen=f"there is no task {need.task_id} {where}")
    trails = (str(found.folder),)
    circle = _circle(found, state, places)
    if circle:
        told = " -> ".join((state.identity.run_id, *circle))
        return Sight(status="failed", seen=f"the tasks wait for each other: {told}", trails=trails, circle=circle)
    other = found.state
    reached = other.progress.stages.get(need.stage)
    done = reached is not None and reached.status in ("verified", "skipped")
    if done and (need.stage != DELIVERY or other.work.delivered):
        commit = str((other.work.delivered or {}).get("commit", ""))
        return Sight(
            status="arrived",
            repo=str(found.repo),
            task_id=other.identity.run_id,
            head=found.folded.head,
            found={"stage": need.stage, "commit": commit},
            branch=str((other.work.delivered or {}).get("branch", "")),
        )
    if other.progress.outcome:
        why = f": {other.progress.error.get('message')}" if other.progress.error else ""
        return Sight(
            status="failed", seen=f"task {other.identity.run_id} is over: {other.progress.outcome}{why}", trails=trails
        )
    return Sight(
        status="waiting",
        seen=f"task {other.identity.run_id} is at {other.progress.stage or 'its beginning'}",
        trails=trails,
    )


def _find(need: Need, places: Mapping[str, Path]) -> _Found | None:
    for repo in [places[need.repo]] if need.repo else places.values():
        folder = tasks_folder(repo) / need.task_id
        if need.task_id and "/" not in need.task_id and (folder / LOG).is_file():
            return _Found(repo=repo, folder=folder, folded=fold(folder))
    return None


def _circle(found: _Found, state: RunState, places: Mapping[str, Path]) -> tuple[str, ...]:
    """The way on which a run comes back to the one that wants to wait for it; () when there is none."""
    mine = (Path(state.identity.repo), state.identity.run_id)
    seen: set[Path] = set()
    ways: list[tuple[_Found, tuple[str, ...]]] = [(found, (found.state.identity.run_id,))]
    while ways:
        other, way = ways.pop()
        if (other.repo.resolve(), other.state.identity.run_id) == (mine[0].resolve(), mine[1]):
            return way
        if other.folder in seen or other.state.progress.outcome:
            continue
        seen.add(other.folder)
        for need in unmet(other.state):
            if other.state.relations.awaited.get(need.key, {}).get("status") == "failed":
                continue  # refused: a human is asked, nobody waits for it
            following = _find(need, {**places, "": other.repo})
            if following is not None:
                ways.append((following, (*way, following.state.identity.run_id)))
    return ()


# -- artifacts: on the branch that tasks start from, and of delivered runs


def _standing(need: Need, repo: Path, branch: str) -> Sight | None:
    """The artifact as it stands on the default branch of its repository, whoever brought it there; None = it does not."""
    git = Git.open(repo)
    ref = f"refs/heads/{branch}"
    if not branch or git.command.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").exit_code != 0:
        return None
    commit = git.resolve(ref)
    for path, version, digest in versions_in(repo, commit, need.artifact):
        if satisfies_or_fails(version, need.version):
            found = {"commit": commit, "branch": branch, "path": path, "version": version, "digest": digest}
            return Sight(status="arrived", repo=str(repo), found=found)
    return None


def _artifact_sight(need: Need, places: Mapping[str, Path], branch: str) -> Sight:
    repo = places[need.repo]
    trails: list[str] = []
    newest = ""
    for other in _delivered(repo):
        commit = str((other.state.work.delivered or {}).get("commit", ""))
        for path, version, digest in versions_in(repo, commit, need.artifact):
            if satisfies_or_fails(version, need.version):
                return Sight(
                    status="arrived",
                    repo=str(repo),
                    task_id=other.state.identity.run_id,
                    head=other.folded.head,
                    found={"commit": commit, "path": path, "version": version, "digest": digest},
                )
            newest = newest or f"; the newest is {version}"
            trails.append(str(other.folder))
    coming = _under_way(repo)
    where = f"neither {branch} nor a delivered task" if branch else "no delivered task"
    seen = f"{where} of {need.repo} has {need.artifact} {need.version}{newest}"
    if coming:
        return Sight(status="waiting", seen=f"{seen}; under way: {', '.join(coming[:5])}", trails=tuple(trails[:5]))
    return Sight(status="failed", seen=f"{seen}, and none is under way", trails=tuple(trails[:5]) or (str(repo),))


def _delivered(repo: Path) -> Iterator[_Found]:
    """The delivered runs of a repository, the newest first."""
    for row in list_tasks(repo):
        if row.outcome == "delivered":
            yield _Found(repo=repo, folder=row.folder, folded=fold(row.folder))


def _under_way(repo: Path) -> list[str]:
    ended = ("delivered", "analyzed", "failed", "aborted", "damaged")
    return [row.task_id for row in list_tasks(repo) if row.outcome not in ended]
