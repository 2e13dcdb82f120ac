"""What stands between a delivered task and its forge: the deliveries on its branch, the remote, the way to ask."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from agentforge.app.composition.run_result import RunResult
from agentforge.app.composition.task_queries import listing, load
from agentforge.config.settings import Settings
from agentforge.errors import ConflictError, ForgeError, UsageError
from agentforge.forges import Forge, GitHub, GitLab, open_wire, place_of
from agentforge.frozen import dataclass
from agentforge.workspace.git.remotes import remote_address, remote_commit, require_remote
from agentforge.workspace.git.repository import Git


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a forge is reached.

    Attributes:
        through: "gh", "glab" or "http".
    """

    forge: Forge
    remote: str
    through: str


def deliveries(cwd: Path, task_id: str) -> list[RunResult]:
    """The runs that delivered on a task's branch, oldest first; the last is what the branch stands on.

    Raises:
        ConflictError: the task is not over, or nothing was delivered.
    """
    asked = load(cwd, task_id)
    if not asked.state.work.delivered or asked.state.progress.outcome != "delivered":
        standing = asked.state.progress.outcome or ("running" if asked.running else "not over")
        raise ConflictError(
            f"{asked.state.identity.run_id} has delivered nothing: it is {standing}",
            hint=f"agentforge status {asked.state.identity.run_id}",
        )
    branch = asked.state.identity.branch
    rows = [row for row in listing(cwd) if row.branch == branch and row.outcome == "delivered"]
    found = {row.task_id: load(cwd, row.task_id) for row in rows}
    chain = [asked]
    while before := found.get(str(chain[0].state.relations.pull.get("follows", ""))):
        chain.insert(0, before)
    while after := next((one for one in found.values() if _follows(one, chain[-1])), None):
        chain.append(after)
    return chain


def delivered_commit(run: RunResult) -> str:
    """The commit that a run delivered."""
    return str((run.state.work.delivered or {}).get("commit", ""))


def find_way(git: Git, *, settings: Settings, environ: Mapping[str, str], remote: str = "") -> Way:
    """Find out where the repository's pull requests live and how to ask there.

    Raises:
        UsageError: no such remote, or its address names no forge.
        ForgeError: nobody is logged in there.
    """
    name = remote or settings.text("forge.remote") or "origin"
    require_remote(git.command, name)
    place = place_of(remote_address(git.command, name), settings.table("forge"))
    wire = open_wire(place, environ)
    if wire is None:
        program, token = ("gh", "GH_TOKEN") if place.kind == "github" else ("glab", "GITLAB_TOKEN")
        raise ForgeError(
            f"nobody is logged in at {place.host}: neither `{program}` nor a token",
            hint=f"{program} auth login --hostname {place.host}, or set {token}",
        )
    forge = GitHub(place, wire) if place.kind == "github" else GitLab(place, wire)
    return Way(forge=cast("Forge", forge), remote=name, through=wire.name)


def tip_at(git: Git, way: Way, branch: str) -> str:
    """The commit that the branch stands on at the remote.

    Raises:
        UsageError: it was never pushed there.
    """
    found = remote_commit(git.command, way.remote, f"refs/heads/{branch}")
    if not found:
        raise UsageError(f"{way.remote} has no branch {branch}", hint="agentforge pr ID pushes it")
    return found


def _follows(run: RunResult, other: RunResult) -> bool:
    return run.state.relations.pull.get(
        "follows"
    ) == other.state.identity.run_id and run.state.identity.base_commit == delivered_commit(other)
