"""Unified diffs as people and models write them: which files, which hunks. Wrong line counts are no obstacle.

Put the hunks of a patch into a text by what stands around them, not by their line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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


class NoMatch(ValueError):
    """A hunk that fits nowhere, or at more than one place.

    Attributes:
        wanted: the lines that were looked for.
    """

    def __init__(self, message: str, *, wanted: str) -> None:
        super().__init__(message)
        self.wanted = wanted


def apply_hunks(text: str, hunks: Sequence[Hunk], *, windows: bool) -> str:
    """Return `text` with all hunks applied, in their order.

    A hunk goes where its old lines stand exactly; else where they stand but for trailing white space. Of several places
    the one nearest to the line number in its header is taken, and without a number the hunk is refused.

    Args:
        windows: the text comes from a file with CRLF line ends: carriage returns of the patch are not content.
    Raises:
        NoMatch: a hunk fits nowhere, or nothing says which of several places is meant.
    """
    lines = text.split("\n")
    closed = lines[-1] == ""  # the text is empty or ends with a line feed
    if closed:
        lines.pop()
    floor = drift = 0
    for number, hunk in enumerate(hunks, start=1):
        body = [(sign, line.removesuffix("\r") if windows else line) for sign, line in hunk.lines]
        old = [line for sign, line in body if sign != "+"]
        at = _place(lines, old, hunk=hunk, number=number, floor=floor, drift=drift)
        reaches_end = at + len(old) == len(lines)
        new = _merged(lines[at : at + len(old)], body)
        lines[at : at + len(old)] = new
        if reaches_end and body and (body[-1][0] != " " or hunk.open_end):
            closed = not hunk.open_end
        floor = at + len(new)
        drift += len(new) - len(old)
    return "\n".join(lines) + ("\n" if closed and lines else "")


def _place(lines: list[str], old: list[str], *, hunk: Hunk, number: int, floor: int, drift: int) -> int:
    expected = None if hunk.start is None else max(hunk.start - 1, 0) + drift
    if not old:
        return _insertion_place(lines, hunk=hunk, number=number, floor=floor, drift=drift)
    for same in (_exactly, _but_for_trailing_space):
        places = _places(lines, old, floor=floor, same=same)
        if len(places) > 1 and expected is None:
            found = ", ".join(str(place + 1) for place in places[:5])
            message = f"hunk {number} fits at lines {found}: give more context or line numbers"
            raise NoMatch(message, wanted="\n".join(old))
        if places:
            return min(places, key=lambda place: abs(place - (expected or 0)))
    raise NoMatch(f"hunk {number} fits nowhere: its old lines are not in the file", wanted="\n".join(old))


def _insertion_place(lines: list[str], *, hunk: Hunk, number: int, floor: int, drift: int) -> int:
    """Without old lines the header counts the line after which to insert; only the number can say where."""
    if not lines:
        return 0
    if hunk.start is None or not floor <= hunk.start + drift <= len(lines):
        raise NoMatch(f"hunk {number} has no context and no usable line number", wanted="")
    return hunk.start + drift


def _places(lines: list[str], old: list[str], *, floor: int, same: Callable[[str, str], bool]) -> list[int]:
    last = len(lines) - len(old)
    return [
        at for at in range(floor, last + 1) if all(same(lines[at + offset], line) for offset, line in enumerate(old))
    ]


def _exactly(there: str, wanted: str) -> bool:
    return there == wanted


def _but_for_trailing_space(there: str, wanted: str) -> bool:
    return there.rstrip() == wanted.rstrip()


def _merged(standing: list[str], body: list[tuple[str, str]]) -> list[str]:
    """The new lines; context keeps the white space that the file has."""
    rest = iter(standing)
    new = []
    for sign, line in body:
        if sign == "+":
            new.append(line)
            continue
        there = next(rest)
        if sign == " ":
            new.append(there)
    return new
