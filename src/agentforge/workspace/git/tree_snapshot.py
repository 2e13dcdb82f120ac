"""The files of a checkout as a git tree, through a private index: HEAD, branches and the user's index do not change."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.errors import RepositoryError
from agentforge.workspace.files.file_access import write_bytes
from agentforge.workspace.git.command import Checkout, GitCommand
from agentforge.workspace.processes.process import Completed

# What interpreters and test runners leave behind and a project may have forgotten to ignore; our own torn writes.
JUNK = (
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".DS_Store",
    "*.pyc",
    ".agentforge-*.tmp",
)


def write_snapshot(command: GitCommand, checkout: Checkout, *, index: Path) -> str:
    """Write the checkout's files as a tree object and return its id.

    Ignored files and the caches of interpreters and test runners are left out, unless they are tracked. So is what lies
    in a repository inside the checkout that its HEAD does not know as a submodule.

    Args:
        index: kept between calls, so that only changed files are read again.
    Raises:
        RepositoryError: a file cannot be read.
    """
    at = replace(checkout, index=index)
    _prepare_index(command, checkout, index=index)
    done = _add_all(command, at, excluded=())
    if done.exit_code != 0:  # perhaps a power cut left it damaged; it only saves reading files
        index.unlink(missing_ok=True)
        _prepare_index(command, checkout, index=index)
        done = _add_all(command, at, excluded=())
    if done.exit_code != 0 or b"embedded git repository" in done.stderr:
        embedded = _embedded_repositories(command, checkout)
        _forget(command, at, paths=embedded)
        done = _add_all(command, at, excluded=embedded)
    if done.exit_code != 0:
        words = os.fsdecode(done.stderr).strip()
        raise RepositoryError(f"{checkout.work_tree} cannot be recorded: {words}", hint="check the file's permissions")
    return command.line("write-tree", at=at)


def write_combined(
    command: GitCommand, git_dir: Path, trees: tuple[str, str], *, paths: Sequence[str], index: Path
) -> str:
    """Write the first tree with some paths as the second has them, or does not have them, through a private index."""
    at = Checkout(git_dir=git_dir, work_tree=index.parent, index=index)
    index.parent.mkdir(parents=True, exist_ok=True)
    unlock(index)
    command.output("read-tree", trees[0], at=at)
    entries = os.fsdecode(command.output("ls-tree", "-r", "-z", "--full-tree", trees[1])).split("\0")
    found = {entry.partition("\t")[2]: entry for entry in entries if entry.partition("\t")[2] in paths}
    gone = f"0 {'0' * len(trees[1])}"
    wanted = "".join(f"{found.get(path) or f'{gone}{chr(9)}{path}'}\0" for path in dict.fromkeys(paths))
    command.output("update-index", "-z", "--index-info", at=at, stdin=os.fsencode(wanted))
    return command.line("write-tree", at=at)


def unlock(index: Path) -> None:
    """Remove the lock of a call that was killed: one process drives a run, so nobody else writes its index."""
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)


def _prepare_index(command: GitCommand, checkout: Checkout, *, index: Path) -> None:
    index.parent.mkdir(parents=True, exist_ok=True)
    unlock(index)
    if index.exists():
        return
    own = checkout.git_dir / "index"
    if own.exists():
        write_bytes(index, own.read_bytes())
    else:
        command.output("read-tree", "HEAD", at=replace(checkout, index=index))


def _add_all(command: GitCommand, at: Checkout, *, excluded: tuple[str, ...]) -> Completed:
    junk = [f":(exclude,glob)**/{name}{below}" for name in JUNK for below in ("", "/**")]
    outside = [f":(exclude,literal,top){path}" for path in excluded]
    return command.run("add", "-A", "--", ".", *junk, *outside, at=at)


def _embedded_repositories(command: GitCommand, checkout: Checkout) -> tuple[str, ...]:
    """Find repositories below the checkout that its HEAD does not know as submodules."""
    listing = os.fsdecode(command.output("ls-tree", "-r", "-z", "HEAD", at=checkout))
    entries = (entry.partition("\t") for entry in listing.split("\0") if entry)
    known = {path for head, _, path in entries if head.startswith("160000")}
    found = []
    for folder, names, files in os.walk(checkout.work_tree):
        here = Path(folder).relative_to(checkout.work_tree)
        if here != Path() and ".git" in (*names, *files):
            names.clear()
            if here.as_posix() not in known:
                found.append(here.as_posix())
    return tuple(sorted(found))


def _forget(command: GitCommand, at: Checkout, *, paths: tuple[str, ...]) -> None:
    listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    command.output("update-index", "-z", "--force-remove", "--stdin", at=at, stdin=listed)
