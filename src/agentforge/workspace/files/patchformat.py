"""Unified diffs as people and models write them: which files, which hunks. Wrong line counts are no obstacle."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HUNK = re.compile(r"^@@(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?)?(?: @@|\s*$|\s)")
_QUOTED = re.compile(rb"\\([abfnrtv\"\\]|[0-7]{3})")
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass(slots=True, kw_only=True)
class Hunk:
    """One place of change.

    Attributes:
        start: 1-based line of the old file that the header names; None when it names none.
        lines: (sign, text): " " for context, "-" for a line that goes, "+" for a line that comes.
        open_end: the new file ends without a line feed here.
    """

    start: int | None
    lines: list[tuple[str, str]] = field(default_factory=list)
    open_end: bool = False

    @property
    def old(self) -> list[str]:
        """The lines that must be there."""
        return [text for sign, text in self.lines if sign != "+"]


@dataclass(slots=True, kw_only=True)
class FilePatch:
    """What a patch does to one file; `old` is None for a new file, `new` is None for one that goes.

    Attributes:
        mode: permission bits of the new file, when the patch names them.
        binary: the change is not text.
    """

    old: str | None = None
    new: str | None = None
    hunks: list[Hunk] = field(default_factory=list)
    mode: int | None = None
    binary: bool = False


def parse_patch(text: str) -> list[FilePatch]:
    """Read a unified diff, git's extended headers included; prose around it is skipped.

    Paths come out as they are written, with `a/` and `b/` still in front.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    files: list[FilePatch] = []
    git_header = False
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            files.append(_from_git_header(line))
            git_header = True
        elif _is_header(lines, at):
            if not git_header:
                files.append(FilePatch())
            files[-1].old, files[-1].new = _name(line[4:]), _name(lines[at + 1][4:])
            git_header = False
            at += 1
        elif files and (hunk := _HUNK.match(line)):
            at = _read_hunk(files[-1], hunk, lines, at)
            git_header = False
            continue
        elif files:
            _read_extended(files[-1], line)
        at += 1
    return files


def strip_name(name: str, *, strip: int) -> str:
    """Take `strip` leading folders off a path of a patch, as `git apply -p` does."""
    return "/".join(name.split("/")[strip:]) if strip else name


def _is_header(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _from_git_header(line: str) -> FilePatch:
    """Names for changes without `---` lines: empty files, modes, deletions of empty files."""
    names = _split_names(line[len("diff --git ") :])
    return FilePatch(old=names[0], new=names[1]) if names else FilePatch()


def _split_names(rest: str) -> tuple[str, str] | None:
    if rest.startswith('"'):
        first, _, second = rest[1:].partition('" ')
        return _unquote(first), _name(second) or ""
    # Without renames both halves are equal but for a/ and b/, so the middle is where to cut.
    middle = len(rest) // 2
    return (rest[:middle], rest[middle + 1 :]) if rest[middle : middle + 1] == " " else None


def _read_extended(patch: FilePatch, line: str) -> None:
    word, _, value = line.partition(" mode ")
    if word == "new file":
        patch.old, patch.mode = None, int(value, 8) & 0o777
    elif word == "new":
        patch.mode = int(value, 8) & 0o777
    elif word == "deleted file":
        patch.new = None
    elif line.startswith("rename from "):
        patch.old = f"a/{_name(line[12:])}"
    elif line.startswith("rename to "):
        patch.new = f"b/{_name(line[10:])}"
    elif line.startswith(("GIT binary patch", "Binary files ")):
        patch.binary = True


def _read_hunk(patch: FilePatch, header: re.Match[str], lines: list[str], at: int) -> int:
    """Read the body of a hunk up to whatever cannot belong to it; the line after it."""
    hunk = Hunk(start=int(header[1]) if header[1] else None)
    patch.hunks.append(hunk)
    at += 1
    while at < len(lines) and not _ends_hunk(lines, at):
        sign, text = lines[at][:1], lines[at][1:]
        if sign == "\\":
            hunk.open_end = bool(hunk.lines) and hunk.lines[-1][0] != "-"
        elif sign in ("+", "-", " "):
            hunk.lines.append((sign, text))
        elif sign == "":  # an editor or a model took the single space of an empty context line away
            hunk.lines.append((" ", ""))
        else:
            break
        at += 1
    # Blank lines between two patches are not context, and a blank line less of it costs nothing.
    while hunk.lines and hunk.lines[-1] == (" ", "") and lines[at - 1] == "":
        hunk.lines.pop()
        at -= 1
    return at


def _ends_hunk(lines: list[str], at: int) -> bool:
    line = lines[at]
    if line.startswith("diff --git ") or (line.startswith("@@") and _HUNK.match(line)):
        return True
    return _is_header(lines, at) and at + 2 < len(lines) and bool(_HUNK.match(lines[at + 2]))


def _name(raw: str) -> str | None:
    raw = raw.rstrip("\r")
    if raw.startswith('"'):
        return _unquote(raw[1:].rpartition('"')[0])
    name = raw.split("\t")[0].rstrip()
    return None if name == "/dev/null" else name


def _unquote(raw: str) -> str:
    """Undo git's C quoting of a path."""

    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8)]) if code.isdigit() else _ESCAPES.get(code, code)

    return _QUOTED.sub(plain, raw.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
