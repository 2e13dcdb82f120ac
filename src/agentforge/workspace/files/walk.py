"""The plain stand-in for ripgrep: a walk in Python that skips hidden tool folders and what git ignores, slowly."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = frozenset(
    {
        ".git",
        ".agentforge",
        ".venv",
        "node_modules",
        "__pycache__",
        ".tox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
    }
)
_LARGEST_FILE_BYTES = 10_000_000


def files(root: Path, *, path: str = ".") -> list[str]:
    """List files, relative to the root, sorted: those that git does not ignore, else all outside of tool folders."""
    start = root / path
    if start.is_file():
        return [os.path.normpath(path)]
    listed = _listed_by_git(root)
    if listed is None or not listed:
        listed = list(_walked(root, start))
    prefix = os.path.normpath(path) + "/"
    inside = listed if prefix == "./" else [name for name in listed if name.startswith(prefix)]
    return sorted(inside)


def lines(root: Path, wanted: re.Pattern[str], *, path: str, context: int) -> Iterator[tuple[str, int, str, bool]]:
    """Yield (path, line number, text, whether it is only context) of the lines that match, and of those near them."""
    for name in files(root, path=path):
        text = _text(root / name)
        if text is None:
            continue
        rows = text.splitlines()
        hits = {number for number, row in enumerate(rows) if wanted.search(row)}
        near = {at for hit in hits for at in range(max(0, hit - context), min(len(rows), hit + context + 1))}
        for number in sorted(near):
            yield name, number + 1, rows[number], number not in hits


def files_with(root: Path, wanted: re.Pattern[str]) -> list[str]:
    """List the files whose text holds a match, sorted."""
    return [name for name in files(root) if wanted.search(_text(root / name) or "")]


def identifiers(root: Path, wanted: re.Pattern[str], *, per_file: int) -> Iterator[tuple[str, str]]:
    """Yield (path, matched text), at most `per_file` of a file."""
    for name in files(root):
        for number, match in enumerate(wanted.finditer(_text(root / name) or "")):
            if number >= per_file:
                break
            yield name, match.group()


def _listed_by_git(root: Path) -> list[str] | None:
    command = ["git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    environment = {"PATH": os.environ.get("PATH", ""), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    try:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    names = [os.fsdecode(item) for item in done.stdout.split(b"\0") if item]
    own = [name for name in dict.fromkeys(names) if ".agentforge" not in name or ".agentforge" not in name.split("/")]
    there = {folder: _files_in(root, folder) for folder in {name.rpartition("/")[0] for name in own}}
    return [name for name in own if (parts := name.rpartition("/"))[2] in there[parts[0]]]


def _files_in(root: Path, folder: str) -> frozenset[str]:
    """The names of the files of one folder, and of the links to files: listing it costs less than asking for each."""
    try:
        with os.scandir(f"{root}/{folder}") as entries:
            return frozenset(entry.name for entry in entries if entry.is_file())
    except OSError:
        return frozenset()


def _walked(root: Path, start: Path) -> Iterator[str]:
    for folder, inner, names in os.walk(start):
        inner[:] = sorted(name for name in inner if name not in _SKIPPED)
        for name in names:
            yield os.path.relpath(Path(folder, name), root)


def _text(path: Path) -> str | None:
    """The text of a file, None for a binary, huge or unreadable one."""
    try:
        if path.stat().st_size > _LARGEST_FILE_BYTES:
            return None
        data = path.read_bytes()
    except OSError:
        return None
    return None if b"\0" in data[:8192] else data.decode("utf-8", "replace")
