"""The commit that a task starts from."""

from __future__ import annotations

from pathlib import Path

from agentforge.app.tasks.start_options import StartOptions
from agentforge.errors import UsageError
from agentforge.workspace.git.repository import Git


def base_commit(options: StartOptions, git: Git, *, data: Path) -> str:
    """The commit that a task starts from: HEAD, the given revision, or a commit of the files as they are.

    Raises:
        UsageError: both a revision and the files as they are were asked for.
    Side effects: a snapshot of uncommitted changes is kept under `refs/agentforge/dirty`.
    """
    if options.include_dirty:
        if options.base:
            raise UsageError("--base and --include-dirty cannot be used together", hint="use one of them")
        data.mkdir(parents=True, exist_ok=True)
        tree = git.dirty_snapshot(data / f"dirty-{git.head()[:12]}.index")
        head = git.head()
        if tree == git.tree_of(head):
            return head
        commit = git.commit_tree(tree, parents=[head], message="Uncommitted changes, as the base of a task\n")
        git.update_ref(f"refs/agentforge/dirty/{commit[:12]}", commit)
        return commit
    return git.resolve(options.base) if options.base else git.found_at
