"""What a run is given at its start: its base commit, the versions that drive it, and the folder beside its worktree."""

from __future__ import annotations

import sys
from pathlib import Path

from agentforge import __version__
from agentforge.app.tasks.start_options import StartOptions
from agentforge.errors import UsageError
from agentforge.events.storage.blob_form import ZLIB, zlib_version
from agentforge.events.storage.view_mark import VIEWS, views_format
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


def program_versions() -> dict[str, str]:
    """Those of agentforge, python and zlib, and the format of the views."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"agentforge": __version__, "python": python, ZLIB: zlib_version(), VIEWS: views_format()}


CHECKOUTS = "checkouts"
"""Where the tasks of a repository leave large checkouts for each other: a folder beside their worktrees."""


def scratch_of(worktree: Path) -> Path:
    """Where a task keeps fresh checkouts and its private index: beside the worktree, never inside."""
    return worktree.with_name(f"{worktree.name}.scratch")
