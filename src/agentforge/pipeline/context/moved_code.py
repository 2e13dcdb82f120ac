"""A patch for reading: what only got another place takes one line, and a moved file shows the lines that differ. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher, unified_diff

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ALIKE = 0.5
"""From this share of common lines on, a file that is gone and a new one are the same file at another path."""
_LEAST_LINES, _LEAST_CHARS = 5, 100
"""What is shorter is shown where it was and where it is."""
_MOST_LINES = 4000
"""Of more lines in one patch, moves are not looked for."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a hunk: " ", "+", "-", "\\" or "@" for the head of the hunk, and its number in the file that has it."""

    sign: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class _File:
    """What a patch does to one file; `head` are the lines before its first hunk."""

    head: tuple[str, ...]
    rows: tuple[_Row, ...] = ()
    path: str = ""

    @property
    def status(self) -> str:
        return next(
            (word for word in ("new", "deleted") if any(row.startswith(f"{word} file") for row in self.head)), ""
        )

    def side(self, sign: str) -> list[str]:
        return [row.text for row in self.rows if row.sign == sign]


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that stood at one place and stand at another: places are (file, row)."""

    old: tuple[int, int]
    new: tuple[int, int]
    length: int
    deeper: int = 0


@dataclass(slots=True)
class _Search:
    """The removed and the added lines of a patch, and which of them were found at their other place."""

    files: Sequence[_File]
    taken: set[tuple[str, int, int]] = field(default_factory=set)


def with_moves(patch: str) -> str:
    """Write a patch of git, made without renames, so that what moved is named instead of shown twice.

    A file that is gone and one like it that is new become one entry, `moved: OLD -> NEW`, with the lines that differ. Of at least
    five lines that were taken out in one place and put in at another, both places say where they went and came from.
    """
    files = list(_files(patch))
    if not files or sum(len(one.rows) for one in files) > _MOST_LINES:
        return patch
    pairs = _moved_files(files)
    alone = [place for place in range(len(files)) if place not in pairs and place not in pairs.values()]
    blocks = _moved_blocks([files[place] for place in alone])
    if not pairs and not blocks:
        return patch
    shown = {place: _without_blocks(files, alone, nth, blocks) for nth, place in enumerate(alone)}
    shown |= {new: _as_move(files[old], files[new]) for new, old in pairs.items()}
    return "".join(f"{row}\n" for place in sorted(shown) for row in shown[place])


def _files(patch: str) -> Iterator[_File]:
    lines = patch.split("\n")
    if lines[-1] == "":
        lines.pop()
    starts = [at for at, line in enumerate(lines) if line.startswith("diff --git ")]
    for first, last in zip(starts, [*starts[1:], len(lines)], strict=False):
        yield _file(lines[first:last])


def _file(lines: Sequence[str]) -> _File:
    at = next((at for at, line in enumerate(lines) if _HUNK.match(line)), len(lines))
    rows: list[_Row] = []
    old = new = 0
    for line in lines[at:]:
        head = _HUNK.match(line)
        sign = "@" if head else line[:1]
        if head:
            old, new = int(head[1]), int(head[3])
        rows.append(_Row(sign, old if sign == "-" else new, line if head else line[1:]))
        old, new = old + (sign in " -"), new + (sign in " +")
    return replace(_File(tuple(lines[:at]), tuple(rows)), path=_path(lines[:at]))


def _path(head: Sequence[str]) -> str:
    names = [line[4:].rstrip("\t") for line in head if line.startswith(("--- ", "+++ "))]
    told = [name for name in names if name != "/dev/null"]
    return told[-1].removeprefix("a/").removeprefix("b/") if told else ""


def _moved_files(files: Sequence[_File]) -> dict[int, int]:
    """Which new file is which that is gone, by their places: the likest first."""
    gone = [place for place, one in enumerate(files) if one.status == "deleted" and one.path and one.rows]
    made = [place for place, one in enumerate(files) if one.status == "new" and one.path and one.rows]
    alike = sorted(
        ((_likeness(files[old].side("-"), files[new].side("+")), new, old) for new in made for old in gone),
        reverse=True,
    )
    pairs: dict[int, int] = {}
    for share, new, old in alike:
        if share >= _ALIKE and new not in pairs and old not in pairs.values():
            pairs[new] = old
    return pairs


def _likeness(before: Sequence[str], after: Sequence[str]) -> float:
    match = SequenceMatcher(None, before, after, autojunk=False)
    return match.ratio() if min(match.real_quick_ratio(), match.quick_ratio()) >= _ALIKE else 0.0


def _as_move(old: _File, new: _File) -> list[str]:
    before, after = old.side("-"), new.side("+")
    if before == after:
        return [f"moved: {old.path} -> {new.path}, every line as it was"]
    changes = list(unified_diff(before, after, n=3, lineterm=""))[2:]
    return [f"moved: {old.path} -> {new.path}; these lines differ:", *changes]


def _moved_blocks(files: Sequence[_File]) -> list[_Block]:
    """Lines that were taken out at one place and put in at another, the first places first; no line is in two of them."""
    search = _Search(files)
    starts: dict[str, list[tuple[int, int]]] = {}
    for place, one in enumerate(files):
        for at, row in enumerate(one.rows):
            if row.sign == "-" and row.text.strip():
                starts.setdefault(row.text.strip(), []).append((place, at))
    blocks: list[_Block] = []
    for place, one in enumerate(files):
        for at, row in enumerate(one.rows):
            if row.sign != "+" or ("+", place, at) in search.taken:
                continue
            found = [_block(search, old, (place, at)) for old in starts.get(row.text.strip(), ())]
            best = max(found, key=lambda block: block.length, default=None)
            if best is not None and _is_long(search, best):
                blocks.append(best)
                for step in range(best.length):
                    search.taken |= {("-", best.old[0], best.old[1] + step), ("+", place, at + step)}
    return blocks


def _block(search: _Search, old: tuple[int, int], new: tuple[int, int]) -> _Block:
    """How far the lines from two places on are the same, all of them indented deeper by the same."""
    before, after = search.files[old[0]].rows, search.files[new[0]].rows
    deeper = _indent(after[new[1]].text) - _indent(before[old[1]].text)
    length = full = 0
    while old[1] + length < len(before) and new[1] + length < len(after):
        one, other = before[old[1] + length], after[new[1] + length]
        told = ("-", old[0], old[1] + length), ("+", new[0], new[1] + length)
        if one.sign != "-" or other.sign != "+" or one.text.strip() != other.text.strip() or search.taken & {*told}:
            break
        if one.text.strip() and _indent(other.text) - _indent(one.text) != deeper:
            break
        length += 1
        full = length if one.text.strip() else full
    return _Block(old, new, full, deeper)


def _is_long(search: _Search, block: _Block) -> bool:
    rows = search.files[block.new[0]].rows[block.new[1] : block.new[1] + block.length]
    texts = [row.text.strip() for row in rows if row.text.strip()]
    return len(texts) >= _LEAST_LINES and sum(map(len, texts)) >= _LEAST_CHARS


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _without_blocks(files: Sequence[_File], alone: Sequence[int], nth: int, blocks: Sequence[_Block]) -> list[str]:
    """A file's part of the patch, the moved lines named."""
    whose = [files[place] for place in alone]
    here = whose[nth]
    ends: dict[int, tuple[int, str]] = {}
    for one in blocks:
        source, target = _span(whose, one.old, one.length), _span(whose, one.new, one.length)
        if one.old[0] == nth:
            ends[one.old[1]] = (one.length, f"-... {one.length} lines moved to {target} ...")
        if one.new[0] == nth:
            ends[one.new[1]] = (one.length, f"+... {one.length} lines moved here from {source}{_shift(one)} ...")
    return [*here.head, *_named(here.rows, ends)]


def _named(rows: Sequence[_Row], ends: Mapping[int, tuple[int, str]]) -> Iterator[str]:
    at = 0
    while at < len(rows):
        if at in ends:
            length, words = ends[at]
            yield words
            at += length
            continue
        row = rows[at]
        yield row.text if row.sign == "@" else f"{row.sign}{row.text}"
        at += 1


def _span(files: Sequence[_File], place: tuple[int, int], length: int) -> str:
    rows = files[place[0]].rows
    return f"{files[place[0]].path}:{rows[place[1]].number}-{rows[place[1] + length - 1].number}"


def _shift(block: _Block) -> str:
    if not block.deeper:
        return ""
    return f", indented {'deeper' if block.deeper > 0 else 'less'} by {abs(block.deeper)}"
