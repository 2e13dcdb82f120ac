"""The files of a checkout as a git tree, through a private index: HEAD, branches and the user's index do not change."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
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

FEWEST_FILES = 5_000
"""With fewer files it costs little to look at all of them, or to write them anew."""
_ENTRY_BYTES = 72
"""An entry of git's index takes at least so many."""
_MOST_NAMES = 2_000
"""Of more names git looks at everything in one call."""
_STEERING = (".gitattributes", ".gitignore", ".gitmodules")


def is_large(index: Path, *, fewest: int = FEWEST_FILES) -> bool:
    """Whether an index may tell of so many files; a small one cannot."""
    return index.is_file() and index.stat().st_size >= fewest * _ENTRY_BYTES


def is_junk(path: str) -> bool:
    """Whether a path lies in what interpreters and test runners leave behind."""
    return any(fnmatchcase(part, pattern) for part in path.split("/") for pattern in JUNK)


def write_snapshot(
    command: GitCommand,
    checkout: Checkout,
    *,
    index: Path,
    known: tuple[str, Collection[str]] | None = None,
    fewest: int = FEWEST_FILES,
) -> str:
    """Write the checkout's files as a tree object and return its id.

    Ignored files and the caches of interpreters and test runners are left out, unless they are tracked. So is what lies
    in a repository inside the checkout that its HEAD does not know as a submodule.

    Args:
        index: kept between calls, so that only changed files are read again.
        known: a tree that the files were equal to, and the names of all that were touched since; nothing else is looked at.
        fewest: files from which on what differs is found first, and recorded by its name.
    Raises:
        RepositoryError: a file cannot be read.
    """
    at = replace(checkout, index=index)
    _prepare_index(command, checkout, index=index)
    if is_large(index, fewest=fewest):
        if _recorded_by_name(command, at, known, index=index):
            return command.line("write-tree", at=at)
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


def _recorded_by_name(
    command: GitCommand, at: Checkout, known: tuple[str, Collection[str]] | None, *, index: Path
) -> bool:
    """Record what differs from the index by its name: as `_add_all`, but that compares 50,000 paths with many patterns.

    Returns:
        Whether that can be done; what git makes of repositories, of rules that changed and of much at once is left to `_add_all`.
    """
    if known is not None and _listed(command, at, "write-tree") == [f"{known[0]}\n"]:
        names = {name for name in known[1] if not _is_folder(at.work_tree / name)}
        ignored = _listed(command, at, "check-ignore", "-z", "--stdin", stdin=_joined(names)) if names else []
    else:
        names, ignored = set(), []
        for question in (
            ("diff-files", "-z", "--name-only", "--ignore-submodules=dirty"),
            ("ls-files", "-z", "--others", "--exclude-standard"),
        ):
            found = _listed(command, at, *question)
            if found is None:
                return False
            names.update(found)
    parts = {part for name in names for part in name.split("/")}
    if ignored is None or len(names) > _MOST_NAMES or not parts.isdisjoint({"", ".git", *_STEERING}):
        return False
    names = {name for name in names if name not in ignored and not is_junk(name)}
    # Removed first, or git would believe size and time of what was changed within a second.
    for step in (("--force-remove",), ("--add", "--remove", "--replace")) if names else ():
        if command.run("update-index", "-z", *step, "--stdin", at=at, stdin=_joined(names)).exit_code != 0:
            index.unlink(missing_ok=True)
            return False
    return True


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _listed(command: GitCommand, at: Checkout, *arguments: str, stdin: bytes | None = None) -> list[str] | None:
    """What git lists, None when it refuses; check-ignore ends with 1 where there is nothing."""
    done = command.run(*arguments, at=at, stdin=stdin)
    if done.exit_code > (arguments[0] == "check-ignore"):
        return None
    return [name for name in os.fsdecode(done.output).split("\0") if name]


def _joined(names: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in sorted(names))


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
    command.output("update-index", "-z", "--force-remove", "--stdin", at=at, stdin=_joined(paths))
