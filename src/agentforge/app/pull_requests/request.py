"""The pull request of a delivered task: the branch is pushed, the request opened or brought up to date, or all is made ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentforge.app.composition.run_result import RunResult
from agentforge.app.proof.bundles import bundle, keep_bundle
from agentforge.app.proof.remote_notes import push_notes
from agentforge.app.pull_requests.place import Way, delivered_commit, deliveries, find_way
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, ConflictError, ForgeError, UsageError
from agentforge.forges import Pull
from agentforge.frozen import dataclass
from agentforge.proof.anchors import NOTES_REF
from agentforge.store.log.files import replace_file
from agentforge.store.tasks.folders import ensure_agentforge_folder
from agentforge.views.pull_body import Trail, pull_body, pull_title
from agentforge.workspace.git.remotes import push, remote_commit
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PullOptions:
    """What `pr` was asked to do.

    Attributes:
        base: the branch to merge into; "" = the one that the task started from, where the remote has it.
        remote: name of a git remote; "" = forge.remote, else origin.
        push: False = only write patch and body.
    """

    base: str = ""
    remote: str = ""
    draft: bool = False
    push: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMade:
    """What became of a pull request.

    Attributes:
        outcome: "prepared" = nothing left this machine; `files` are ready and `reason` says why.
        through: what asked the forge: "gh", "glab" or "http".
    """

    outcome: Literal["opened", "updated", "prepared"]
    task_id: str
    branch: str
    commit: str
    url: str = ""
    number: int = 0
    base: str = ""
    through: str = ""
    files: tuple[str, ...] = ()
    reason: str = ""
    next: tuple[str, ...] = ()


def pull(cwd: Path, task_id: str, options: PullOptions, *, settings: Settings, environ: Mapping[str, str]) -> PullMade:
    """Open the pull request of a task's branch, or bring the open one up to date. Called twice it is the same.

    Raises:
        ConflictError: nothing was delivered, or somebody else has committed to the branch at the remote.
        ForgeError: the forge refuses.
        ToolchainError: git cannot push.
    Side effects: a push of the branch and of the notes; or two files under `.agentforge/pulls`.
    """
    chain = deliveries(cwd, task_id)
    git = Git.open(cwd)
    bundle = settings.flag("forge.bundle")
    text = _text(chain, bundle=bundle)
    if not options.push:
        return _prepared(git, chain, text, reason="asked for with --no-push", remote=options.remote or "origin")
    try:
        way = find_way(git, settings=settings, environ=environ, remote=options.remote)
    except (UsageError, ForgeError) as exc:
        if options.remote and isinstance(exc, UsageError):
            raise
        return _prepared(git, chain, text, reason=str(exc), remote=settings.text("forge.remote") or "origin")
    _push(git, way, chain, cwd=cwd, bundle=bundle)
    return _asked(git, way, chain, text, base=options.base or settings.text("forge.base"), draft=options.draft)


def with_pull(result: RunResult, *, settings: Settings, environ: Mapping[str, str]) -> RunResult:
    """The result of a run that has delivered, with its pull request; one that fails does not undo the delivery."""
    try:
        made = pull(
            Path(result.state.identity.repo),
            result.state.identity.run_id,
            PullOptions(),
            settings=settings,
            environ=environ,
        )
    except AgentForgeError as exc:
        exc.hint = f"{exc.hint}; the branch stands, try again: agentforge pr {result.state.identity.run_id}".lstrip(
            "; "
        )
        return replace(result, error=exc)
    return replace(result, pull=asdict(made))


def _text(chain: list[RunResult], *, bundle: bool) -> tuple[str, str]:
    """Title and body."""
    last = chain[-1]
    trail = Trail(head=last.head, records=last.records)
    earlier = [run.state for run in chain[:-1]]
    body = pull_body(last.state.work.artifacts.get("deliver", {}), last.state, trail, earlier=earlier, bundle=bundle)
    return pull_title(chain[0].state.work.artifacts.get("deliver", {})), body


def _prepared(git: Git, chain: list[RunResult], text: tuple[str, str], *, reason: str, remote: str) -> PullMade:
    """Write what a pull request needs, for somebody who opens it by hand."""
    first, last = chain[0].state, chain[-1]
    folder = ensure_agentforge_folder(git.top) / "pulls" / first.identity.run_id
    folder.mkdir(parents=True, exist_ok=True)
    commit = delivered_commit(last)
    patch = git.command.output("format-patch", "--stdout", f"{first.identity.base_commit}..{commit}")
    replace_file(folder / "changes.patch", patch, durable=False)
    replace_file(folder / "body.md", f"# {text[0]}\n\n{text[1]}".encode(), durable=False)
    branch = first.identity.branch
    return PullMade(
        outcome="prepared",
        task_id=last.state.identity.run_id,
        branch=branch,
        commit=commit,
        files=(str(folder / "changes.patch"), str(folder / "body.md")),
        reason=reason,
        next=(
            f"git push {remote} {branch} {NOTES_REF}    # then open a pull request with body.md",
            f"git am {folder / 'changes.patch'}    # where only patches are taken",
        ),
    )


def _push(git: Git, way: Way, chain: list[RunResult], *, cwd: Path, bundle: bool) -> None:
    commit, branch = delivered_commit(chain[-1]), chain[0].state.identity.branch
    done = push(git.command, way.remote, commit=commit, ref=f"refs/heads/{branch}")
    if done.outcome == "overtaken":
        raise ConflictError(
            f"{branch} at {way.remote} holds commits that are not here: {done.reason}",
            hint=f"git fetch {way.remote} {branch}, and start a new task from there",
        )
    _require(done.outcome == "taken", f"{branch} could not be pushed to {way.remote}: {done.reason}")
    noted = push_notes(git, way.remote)
    _require(noted.outcome == "taken", f"the notes could not be pushed to {way.remote}: {noted.reason}")
    if bundle:
        for run in chain:
            _push_bundle(git, way, cwd, run.state.identity.run_id)


def _push_bundle(git: Git, way: Way, cwd: Path, task_id: str) -> None:
    ref = keep_bundle(git.top, bundle(cwd, task_id))
    done = push(git.command, way.remote, commit=ref, ref=ref, replace=True)
    _require(done.outcome == "taken", f"the bundle could not be pushed to {way.remote}: {done.reason}")


def _require(taken: bool, message: str) -> None:
    if not taken:
        raise ForgeError(message, hint="try it yourself with git push; then again: agentforge pr ID")


def _asked(git: Git, way: Way, chain: list[RunResult], text: tuple[str, str], *, base: str, draft: bool) -> PullMade:
    """Open the request, or write the body of the open one anew."""
    title, body = text
    branch = chain[0].state.identity.branch
    standing = way.forge.find(branch)
    outcome: Literal["opened", "updated"] = "updated"
    if standing is None:
        base = base or _base(git, way, chain[0].state.identity.base_ref)
        try:
            made = way.forge.open(branch, base=base, title=title, body=body, draft=draft)
            outcome = "opened"
        except ForgeError:
            standing = way.forge.find(branch)  # somebody was quicker
            if standing is None:
                raise
            made = way.forge.update(standing, body=body)
    else:
        made = way.forge.update(standing, body=body)
    return _made(made, way, chain, outcome=outcome)


def _made(made: Pull, way: Way, chain: list[RunResult], *, outcome: Literal["opened", "updated"]) -> PullMade:
    last = chain[-1]
    return PullMade(
        outcome=outcome,
        task_id=last.state.identity.run_id,
        branch=last.state.identity.branch,
        commit=delivered_commit(last),
        url=made.url,
        number=made.number,
        base=made.base,
        through=way.through,
    )


def _base(git: Git, way: Way, ref: str | None) -> str:
    """The branch that the task started from, where the remote has it, else the forge's default."""
    if ref and remote_commit(git.command, way.remote, f"refs/heads/{ref}"):
        return ref
    return way.forge.default_branch()
