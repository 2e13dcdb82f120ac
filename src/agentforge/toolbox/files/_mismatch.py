"""Why a text was not found in a file, told so that the next try can be right."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from agentforge.toolbox._files import numbered
from agentforge.workspace.files.patch import nearest_lines

_NUMBERED_LINE = re.compile(r"\s*\d+[ \t:|]")
_LONGEST_BLOCK = 40
_LONGEST_LINE = 2000
"""Characters of a line beyond which two lines are not compared sign by sign."""
_MORE_LINES = 2
"""How many lines the place in the file may have beyond those that were asked for."""
_MOST_DIFFERENCES, _MOST_RUNS = 6, 8
_LONGEST_QUOTED = 40
_RUN = re.compile(r"\w+|(.)\1*", re.DOTALL)
"""A word, or one sign however often it is repeated."""
_LOOK_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"), "\u2026": "...", "\u00d7": "x",
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None),
    }
)  # fmt: skip
_CONTROLS = {"\t": "TAB", "\n": "LINE FEED", "\r": "CARRIAGE RETURN", "\f": "FORM FEED", "\v": "LINE TABULATION"}


def explain(content: str, wanted: str) -> str:
    """Say what stands in the file instead of the wanted text, with line numbers and each sign that differs."""
    plain = _without_numbers(wanted)
    if plain != wanted and plain in content:
        return "old_string holds the line numbers of read_file; leave them out."
    place = _same_to_the_eye(content, plain)
    if place is not None:
        return _told_of_signs(content, plain, place)
    block = _mostly_equal(content, plain)
    if block is not None:
        start, lines = block
        differences = _listed(_line_differences(lines, plain.strip("\n").split("\n"), first=start))
        return f"The nearest block, of which most lines are equal:\n{numbered(lines, first=start)}\n{differences}"
    near = nearest_lines(content, wanted)
    return "\n".join(["Nearest lines:", *near, *_of_nearest(near, plain)]) if near else "No line is similar."


def _without_numbers(wanted: str) -> str:
    lines = wanted.split("\n")
    if not all(_NUMBERED_LINE.match(line) for line in lines if line.strip()):
        return wanted
    return "\n".join(_NUMBERED_LINE.sub("", line, count=1) for line in lines)


def _same_to_the_eye(content: str, wanted: str) -> tuple[int, int] | None:
    """Where a text stands that equals the wanted one but for white space and signs that look alike: its first and its end."""
    asked = "".join(_folded(one) for one in wanted)
    if not asked:
        return None
    signs = [_folded(one) for one in content]
    ends = list(accumulate(map(len, signs)))
    at = "".join(signs).find(asked)
    if at < 0:
        return None
    first, last = bisect_right(ends, at), bisect_right(ends, at + len(asked) - 1)
    return first, last + 1


def _folded(sign: str) -> str:
    """What is left of a sign when the way in which it is spelled does not matter; nothing of white space."""
    if sign.isascii():
        return "" if sign.isspace() else sign.translate(_LOOK_ALIKE)
    return "".join(unicodedata.normalize("NFKD", sign.translate(_LOOK_ALIKE)).split())


def _told_of_signs(content: str, wanted: str, place: tuple[int, int]) -> str:
    """The lines of a place that looks like the wanted text, and the signs that differ."""
    first, end = _with_space_around(content, wanted, place)
    begin, stop = content.rfind("\n", 0, first) + 1, content.find("\n", max(first, end - 1))
    line = content.count("\n", 0, first) + 1
    lines = content[begin : stop if stop >= 0 else len(content)].split("\n")
    have = content[first:end]
    only = "white space" if "".join(have.split()) == "".join(wanted.split()) else "single signs"
    differences = _listed(_sign_differences(have, wanted, line=line, column=first - begin + 1))
    return f"These lines differ from old_string only in {only}:\n{numbered(lines, first=line)}\n{differences}"


def _with_space_around(content: str, wanted: str, place: tuple[int, int]) -> tuple[int, int]:
    """A place with as many lines of white space before and behind it as the wanted text has."""
    first, end = place
    lead, trail = wanted[: len(wanted) - len(wanted.lstrip())], wanted[len(wanted.rstrip()) :]
    if lead:
        before = re.search(rf"(?:[^\S\n]*\n){{0,{lead.count(chr(10))}}}[^\S\n]*\Z", content[:first][-_LONGEST_LINE:])
        first -= len(before.group()) if before else 0
    if trail:
        rest = "" if trail.endswith("\n") else r"[^\S\n]*"
        behind = re.match(rf"(?:[^\S\n]*\n){{0,{trail.count(chr(10))}}}{rest}", content[end:][:_LONGEST_LINE])
        end += len(behind.group()) if behind else 0
    return first, end


def _mostly_equal(content: str, wanted: str) -> tuple[int, list[str]] | None:
    """The block of lines that has most of the wanted ones, a few more or fewer between them: its first line, its lines."""
    asked = [line.strip() for line in wanted.strip("\n").split("\n")]
    if not 2 <= len(asked) <= _LONGEST_BLOCK:
        return None
    lines, counted = content.split("\n"), Counter(filter(None, asked))
    bare = [line.strip() for line in lines]
    firsts = [place for place, line in enumerate(bare) if line in counted]
    starts = {max(0, place - before) for place in firsts for before in range(len(asked))}

    def equal(at: int) -> tuple[int, int, bool, int]:
        straight = sum(bool(line) and line == have for line, have in zip(asked, bare[at:], strict=False))
        window = Counter(bare[at : at + len(asked) + _MORE_LINES])
        return (window & counted).total(), straight, bare[at] == asked[0], -at

    best = max(starts, key=equal, default=0)
    if not starts or equal(best)[0] * 2 < counted.total():
        return None
    matcher = SequenceMatcher(None, bare[best : best + len(asked) + _MORE_LINES], asked, autojunk=False)
    *_, last, _ = [(0, 0, 0), *matcher.get_matching_blocks()]
    end = (
        best + last[0] + len(asked) - last[1]
    )  # what is left of the wanted text stands behind the last line that is equal
    return best + 1, lines[best:end]


def _line_differences(have: Sequence[str], asked: Sequence[str], *, first: int) -> Iterator[str]:
    """Which lines of a block differ from the wanted ones, and where two stand for each other, in which signs."""
    matcher = SequenceMatcher(None, [line.strip() for line in have], [line.strip() for line in asked], autojunk=False)
    for _, start, end, other, last in matcher.get_opcodes():
        place = start
        for behind, line in zip(range(last - other - 1, -1, -1), asked[other:last], strict=True):
            rest = range(place, end - behind)
            if not rest:
                yield f"old_string has the line {_quoted(line)}, which the file does not have at line {first + place}"
                continue
            near = max(rest, key=lambda at: SequenceMatcher(None, have[at], line).ratio())
            yield from (f"line {first + at} of the file is missing from old_string" for at in range(place, near))
            yield from _sign_differences(have[near], line, line=first + near)
            place = near + 1
        yield from (f"line {first + at} of the file is missing from old_string" for at in range(place, end))


def _of_nearest(near: Sequence[str], wanted: str) -> list[str]:
    """In which signs the nearest line differs from the line of the wanted text that it is nearest to."""
    shown = [one.lstrip().partition(": ") for one in near]
    pairs = [
        (SequenceMatcher(None, have.strip(), line.strip()).ratio(), number, have, line)
        for number, _, have in shown
        for line in wanted.split("\n")
        if line.strip() and len(have) + len(line) <= _LONGEST_LINE
    ]
    if not pairs:
        return []
    _, number, have, line = max(pairs, key=lambda pair: pair[0])
    column = len(have) - len(have.lstrip()) + 1
    found = list(_sign_differences(have.strip(), line.strip(), line=int(number), column=column))
    return [_listed(found)] if found else []


def _sign_differences(have: str, asked: str, *, line: int, column: int = 1) -> Iterator[str]:
    """Each place in which two texts differ, with the code points of both."""
    if have == asked or len(have) + len(asked) > _LONGEST_LINE * 2:
        return
    runs, wanted = ([one.group() for one in _RUN.finditer(text)] for text in (have, asked))
    for kind, start, end, other, last in SequenceMatcher(None, runs, wanted, autojunk=False).get_opcodes():
        if kind != "equal":
            before = "".join(runs[:start])
            at, row = len(before) - before.rfind("\n") - 1, line + before.count("\n")
            where = f"line {row}, column {at + (column if row == line else 1)}"
            yield f"{where}: the file has {_signs(runs[start:end])}, old_string has {_signs(wanted[other:last])}"


def _listed(differences: Sequence[str] | Iterator[str]) -> str:
    rows = list(differences)
    more = [f"- and {len(rows) - _MOST_DIFFERENCES} more differences"] if len(rows) > _MOST_DIFFERENCES else []
    return "\n".join(["What differs:", *(f"- {row}" for row in rows[:_MOST_DIFFERENCES]), *more]) if rows else ""


def _signs(runs: Sequence[str]) -> str:
    """Runs of signs for people and models alike: words as they are, everything else by its code point and name."""
    shown = [_run(one) for one in runs[:_MOST_RUNS]]
    return ", ".join([*shown, *(["..."] if len(runs) > _MOST_RUNS else [])]) or "nothing"


def _run(run: str) -> str:
    if not (run[0].isalnum() or run[0] == "_"):
        return f"{f'{len(run)} times ' if len(run) > 1 else ''}{_point(run[0])}"
    foreign = ", ".join(dict.fromkeys(_point(sign) for sign in run[:_LONGEST_QUOTED] if not sign.isascii()))
    return f"{_quoted(run)} ({foreign})" if foreign else _quoted(run)


def _point(sign: str) -> str:
    name = _CONTROLS.get(sign) or unicodedata.name(sign, "")
    return f"U+{ord(sign):04X}{f' {name}' if name else ''}"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}...")
