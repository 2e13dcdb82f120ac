"""Search in the files of a workspace with ripgrep, and its plain stand-in when ripgrep is missing (see walk.py).

Ignore files of the workspace count (.gitignore, .ignore); those above it, the user's own and ripgrep's configuration
do not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Literal

from agentforge.errors import AgentForgeError
from agentforge.frozen import dataclass
from agentforge.globs import compiled
from agentforge.workspace.files import walk

Engine = Literal["ripgrep", "python"]

_TIMEOUT_S = 60
_TROUBLE = 2  # ripgrep's exit code for an error
_LONGEST_LINE = 400
_MOST_NAMED = 500  # files that are named to ripgrep one by one
_LARGEST_FILE = "10M"
_LINE = re.compile(rb"(\d+)([:-])(.*)", re.DOTALL)
_BASE = (
    "--no-config", "--color=never", "--no-messages", "--hidden", "--glob=!.git", "--glob=!.agentforge",
    "--no-require-git", "--no-ignore-parent", "--no-ignore-global",
)  # fmt: skip


class PatternInvalid(AgentForgeError):
    """The pattern is not a regular expression."""

    slug = "bad-pattern"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One line of a file; `is_context` for a line that only stands near a hit. Lines are cut at 400 characters."""

    path: str
    line: int
    text: str
    is_context: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Matches in the order of paths and lines.

    Attributes:
        stopped_at: the number of hits after which the search stopped, None when it is complete.
        engine: "python" is the slow stand-in, which knows only the ignore rules that git tells it.
    """

    matches: tuple[Match, ...]
    stopped_at: int | None
    engine: Engine


def grep(
    root: Path,
    pattern: str,
    *,
    path: str = ".",
    ignore_case: bool = False,
    literal: bool = False,
    context: int = 0,
    limit: int = 200,
) -> SearchResult:
    """Find the lines that match a regular expression, complete up to `limit` hits.

    Args:
        pattern: in ripgrep's syntax (close to Python's, without look-around).
        path: a file or folder of the workspace; an ignored one is searched when it is named.
        literal: take the pattern as plain text.
        context: lines to show around each hit.
        limit: hits, >= 1.
    Raises:
        PatternInvalid: not a regular expression.
    """
    binary = ripgrep()
    if binary is None:
        return _plain_grep(
            root, pattern, path=path, ignore_case=ignore_case, literal=literal, context=context, limit=limit
        )
    options = [
        "--null",
        "--line-number",
        "--no-heading",
        "--with-filename",
        "--sort=path",
        f"--max-filesize={_LARGEST_FILE}",
    ]
    options += (
        ["--ignore-case"] * ignore_case + ["--fixed-strings"] * literal + [f"--context={context}"] * (context > 0)
    )
    matches: list[Match] = []
    hits = 0
    arguments = [*options, *_ignore_files(root, path), "-e", pattern, "--", _argument(path)]
    with closing(_lines(binary, arguments, root=root)) as lines:
        for raw in lines:
            match = _parse(raw)
            if match is None:
                continue
            hits += not match.is_context
            if hits > limit:
                return SearchResult(matches=tuple(matches), stopped_at=limit, engine="ripgrep")
            matches.append(match)
    return SearchResult(matches=tuple(matches), stopped_at=None, engine="ripgrep")


def files(root: Path, *, path: str = ".", tree: str = "") -> list[str]:
    """List the files that are not ignored, hidden ones included, sorted.

    Args:
        tree: that the folder is known to hold: the list is made once for it. "" = not known.
    """
    return list(_files_of(root, path, tree)) if tree else _files(root, path)


@lru_cache(maxsize=2)
def _files_of(root: Path, path: str, _tree: str) -> tuple[str, ...]:
    return tuple(_files(root, path))


def _files(root: Path, path: str) -> list[str]:
    binary = ripgrep()
    if binary is None:
        return walk.files(root, path=path)
    data = b"".join(_lines(binary, ["--files", "--null", *_ignore_files(root, path), "--", _argument(path)], root=root))
    listed = f"\0{os.fsdecode(data)}".replace("\0./", "\0")  # in one piece: there may be 50,000
    return sorted(filter(None, listed.split("\0")))


def glob(root: Path, pattern: str, *, path: str = ".") -> list[str]:
    """List the files below `path` that match a pattern (see agentforge.globs), relative to the root, sorted."""
    below = path.strip("/")
    prefix = "" if below in ("", ".") else f"{below}/"
    fits = compiled(pattern).fullmatch
    return [name for name in files(root, path=path) if fits(name.removeprefix(prefix))]


def files_with_word(root: Path, word: str) -> list[str]:
    """List the files that hold `word` as a whole word, sorted."""
    binary = ripgrep()
    if binary is None:
        return walk.files_with(root, re.compile(rf"\b{re.escape(word)}\b"))
    arguments = [
        "--files-with-matches",
        "--null",
        "--word-regexp",
        "--fixed-strings",
        f"--max-filesize={_LARGEST_FILE}",
    ]
    data = b"".join(_lines(binary, [*arguments, "-e", word, "--", "./"], root=root))
    return sorted(_path(item) for item in data.split(b"\0") if item)


def identifiers(root: Path, stems: Sequence[str], *, per_file: int = 40) -> Iterator[tuple[str, str]]:
    """Yield (path, identifier) for every identifier that holds one of the stems, in no order, letter case ignored.

    Args:
        stems: letters and digits only.
        per_file: lines of one file that are looked at.
    """
    pattern = rf"[A-Za-z0-9_]*(?:{'|'.join(map(re.escape, stems))})[A-Za-z0-9_]*"
    binary = ripgrep()
    if binary is None:
        yield from walk.identifiers(root, re.compile(pattern, re.IGNORECASE), per_file=per_file)
        return
    options = [
        "--null",
        "--only-matching",
        "--no-line-number",
        "--no-heading",
        "--with-filename",
        "--ignore-case",
        "--no-unicode",
    ]
    options += [f"--max-count={per_file}", "--max-filesize=400K"]
    for raw in _lines(binary, [*options, "-e", pattern, "--", "./"], root=root):
        name, found, identifier = raw.partition(b"\0")
        if found:
            yield _path(name), identifier.rstrip(b"\r\n").decode("ascii", "replace")


def phrases(
    root: Path, wanted: Sequence[str], *, per_file: int = 20, within: frozenset[str] | None = None
) -> Iterator[tuple[str, int, str]]:
    """Yield (path, line, phrase) wherever one of the texts stands word for word on one line, in no order.

    Args:
        per_file: lines of one file that are looked at.
        within: the only files that can hold one; None = any.
    """
    if within is not None and not within:
        return
    places = sorted(within) if within is not None and len(within) <= _MOST_NAMED else ["."]
    binary = ripgrep()
    if binary is None:
        pattern = re.compile("|".join(map(re.escape, wanted)))
        for name, number, line, _ in walk.lines(root, pattern, path=".", context=0):
            yield from ((name, number, phrase) for phrase in wanted if phrase in line)
        return
    options = ["--null", "--line-number", "--no-heading", "--with-filename", "--only-matching", "--fixed-strings"]
    options += [f"--max-count={per_file}", "--max-filesize=400K", *(f"--regexp={phrase}" for phrase in wanted)]
    for raw in _lines(binary, [*options, "--", *map(_argument, places)], root=root):
        match = _parse(raw)
        if match is not None:
            yield match.path, match.line, match.text


@lru_cache(maxsize=1)
def ripgrep() -> str | None:
    """The ripgrep that was installed with us, else the one on PATH, else None."""
    beside = Path(sys.executable).parent / "rg"
    if beside.is_file():
        return str(beside)

    return shutil.which("rg")


def _lines(binary: str, arguments: Sequence[str], *, root: Path) -> Generator[bytes]:
    """Run ripgrep outside the sandbox (it only reads) and give its output by lines; closing the generator ends it."""
    process = subprocess.Popen(
        [binary, *_BASE, *arguments],
        cwd=root,
        env={},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = process.stdout, process.stderr
    assert out is not None
    assert err is not None
    watchdog = threading.Timer(_TIMEOUT_S, process.kill)
    watchdog.start()
    try:
        yield from out
        complaint = err.read()
        if process.wait() == _TROUBLE and complaint:
            raise PatternInvalid(complaint.decode("utf-8", "replace").strip(), hint="escape the special characters")
    finally:
        watchdog.cancel()
        process.kill()
        out.close()
        err.close()
        process.wait()


def _ignore_files(root: Path, path: str) -> list[str]:
    """The root's ignore files, named where the search starts below them."""
    if path.strip("/") in ("", "."):
        return []
    return [f"--ignore-file={name}" for name in (".gitignore", ".ignore") if (root / name).is_file()]


def _argument(path: str) -> str:
    return f"./{path.strip('/')}" if path.strip("/") not in ("", ".") else "./"


def _path(raw: bytes) -> str:
    return os.fsdecode(raw.removeprefix(b"./"))


def _parse(raw: bytes) -> Match | None:
    """Read `path NUL number : text`; separators between groups and notes about binary files are None."""
    name, found, rest = raw.partition(b"\0")
    parts = _LINE.match(rest) if found else None
    if parts is None:
        return None
    text = parts[3].decode("utf-8", "replace").rstrip("\r\n")
    return Match(path=_path(name), line=int(parts[1]), text=shorten(text), is_context=parts[2] == b"-")


def shorten(line: str) -> str:
    """Cut a line at 400 characters, and say how many more there are."""
    more = len(line) - _LONGEST_LINE
    return line if more <= 0 else f"{line[:_LONGEST_LINE]} ... {more} more characters"


def _plain_grep(
    root: Path, pattern: str, *, path: str, ignore_case: bool, literal: bool, context: int, limit: int
) -> SearchResult:
    try:
        wanted = re.compile(re.escape(pattern) if literal else pattern, re.IGNORECASE if ignore_case else 0)
    except re.error as exc:
        raise PatternInvalid(f"{pattern}: {exc}", hint="escape the special characters") from exc
    matches: list[Match] = []
    hits = 0
    for name, number, line, is_context in walk.lines(root, wanted, path=path, context=context):
        hits += not is_context
        if hits > limit:
            return SearchResult(matches=tuple(matches), stopped_at=limit, engine="python")
        matches.append(Match(path=name, line=number, text=shorten(line), is_context=is_context))
    return SearchResult(matches=tuple(matches), stopped_at=None, engine="python")
