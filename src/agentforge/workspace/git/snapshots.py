"""The snapshots of a run, kept for good: one ref per run on a chain of commits, so that no `git gc` takes them away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agentforge.errors import RepositoryError
from agentforge.workspace.git.command import Checkout
from agentforge.workspace.git.repository import AGENTFORGE, Git

_RUNS = "refs/agentforge/runs"


def snapshot_ref(run_id: str) -> str:
    """The ref that keeps the snapshots of a run."""
    return f"{_RUNS}/{run_id}"


def kept_runs(git: Git) -> dict[str, int]:
    """The runs of which the repository keeps snapshots, and when the last one was made (seconds since 1970)."""
    rows = git.command.output("for-each-ref", "--format=%(refname:lstrip=3) %(committerdate:unix)", _RUNS).decode()
    return {name: int(at or 0) for name, _, at in (row.partition(" ") for row in rows.splitlines())}


def keep(git: Git, run_id: str, *, tree: str, base: str, when: str) -> None:
    """Add a tree to what is kept for a run; the commit before it, or the run's base commit, is its parent.

    Args:
        when: ISO 8601; the same snapshot at the same time is the same commit.
    Side effects: a commit, and the run's ref, in the user's repository; no branch moves.
    """
    ref = snapshot_ref(run_id)
    last = _commit_at(git, ref)
    if last is not None and git.tree_of(last) == tree:
        return
    commit = git.commit_tree(
        tree, parents=[last or base], message=f"Snapshot of {run_id}\n", author=AGENTFORGE, when=when
    )
    git.update_ref(ref, commit)


def share(git: Git, parent: str, child: str, *, tree: str, base: str, when: str) -> None:
    """Keep a snapshot of one run for another that goes on from it."""
    last = _commit_at(git, snapshot_ref(parent))
    if last is not None:
        git.update_ref(snapshot_ref(child), last)
    keep(git, child, tree=tree, base=base, when=when)


def rebuilt(git: Git, tree: str, *, start: str, patches: Iterable[bytes], index: Path) -> None:
    """Make a tree again that the repository lost (the run was copied without git's objects), from recorded patches.

    Args:
        start: the tree of the run's base commit.
        patches: of all steps up to the tree, oldest first.
        index: a private index file, made anew and removed.
    Raises:
        RepositoryError: the patches do not lead to the tree.
    """
    at = Checkout(git_dir=git.command.git_dir, work_tree=git.top, index=index)
    index.parent.mkdir(parents=True, exist_ok=True)
    index.unlink(missing_ok=True)
    try:
        git.command.output("read-tree", start, at=at)
        for patch in patches:
            git.command.output("apply", "--cached", "--whitespace=nowarn", "-", at=at, stdin=patch)
            if git.command.line("write-tree", at=at) == tree:
                return
    finally:
        index.unlink(missing_ok=True)
    raise RepositoryError(
        f"the snapshot {tree[:12]} is gone from {git.top} and cannot be made again from the recorded patches",
        hint=f"copy {snapshot_ref('TASK')} of the old repository, too: git fetch OLD 'refs/agentforge/*:refs/agentforge/*'",
    )


def _commit_at(git: Git, ref: str) -> str | None:
    done = git.command.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return done.text.strip() if done.exit_code == 0 else None
