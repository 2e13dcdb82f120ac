"""What a program printed, made short: the first failure, the end, the beginning, and of the rest what tells how it went. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from agentforge.context.first_failure import first_failure
from agentforge.tokens import count_tokens, cut_end

WAYS_TO_SEE: Mapping[str, str] = {
    "shell": "the same command with `2>&1 | sed -n '{first},{last}p'` shows as many of them as there is room for",
    "run_tests": "run_tests with the names of fewer tests shows them",
    "run_checks": "run_checks with fewer paths shows them",
    "jobs": "a command that prints less shows more of it",
}
"""How the model sees what a cut leaves out of what a tool's program printed; {first} and {last} are numbers of lines."""

_PLAIN, _FAILED = (0, 25, 45), (45, 8, 32)
"""Percent of the room for the first failure, the beginning and the end, where no failure is recognised and where one is; what
tells how it went has the rest, and what one part does not need goes to the others."""
_LONGEST = 1200
_ENDS = (800, 300)
"""A line of more characters is shown by so many at its beginning and at its end."""
_LONGEST_TELLING = 240
_MARKER = re.compile(r"\.\.\. (\d{1,9}) lines omitted(?: \(\d+-\d+ of \d+\))?(?:; .*)? \.\.\.$")
_OF_OMITTED = re.compile(r"  (\d{1,9}): (.*\n?)")
_TELLS = re.compile(
    r"(?:FAILED|FAIL|ERROR|XPASS|--- FAIL|not ok|Traceback|fatal:|npm ERR!|error(?:\[\w+\])?:|warning(?:\[\w+\])?:)"
    r"|E {2,}\S|thread '.*' panicked|panic:|[●✗✘✖×]|\d+\) "
    r"|[\w.]*(?:Error|Exception|Exit|Interrupt)(?::|$)|\S+:\d+(?::\d+)?:? (?:fatal )?(?:error|Error)|.*\berror TS\d+"
    r"|=+ .* =+$|\d+ (?:passed|failed|passing|failing|pending|errors?)\b|Tests?:|Test Suites:|# (?:tests|pass|fail) \d"
    r"|test result:|Ran \d+ tests?|OK$|Found \d+ errors?|(?:AssertionError|assert)\b"
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, or the mark of an earlier cut, which stands for many.

    Attributes:
        number: of the first line that it stands for.
        lines: how many it stands for; 0 = it is one of those that an earlier cut took out and named.
    """

    number: int
    lines: int
    text: str

    @property
    def tells(self) -> bool:
        return self.lines == 0 or (self.lines == 1 and _TELLS.match(self.text.lstrip()) is not None)


def cut_printed(text: str, *, limit: int, note: str = "") -> str:
    """Shorten what a program printed so that it costs at most `limit` tokens.

    Args:
        limit: tokens, >= 16.
        note: how to see the rest; {first} and {last} become the numbers of the omitted lines.
    Returns:
        `text` when it fits, else its first failure, its head and its tail, and in the place of other lines "... N lines omitted
        (A-B of ALL) ...", below it those of these lines that tell of failures and sums, each with its number.
    """
    if count_tokens(text) <= limit:
        return text
    lines = _lines(text)
    whole = "".join(one.text for one in lines)
    if all(one.lines == 1 for one in lines) and count_tokens(whole) <= limit:
        return whole
    kept, telling = _parts(lines, limit, note)
    return _written(lines, kept, telling, note) if kept or telling else cut_end(text, limit=limit)


def _parts(lines: Sequence[_Line], limit: int, note: str) -> tuple[set[int], dict[int, str]]:
    """The places of the lines that stay, and rows for those that are named, by the numbers of their lines."""
    failure = first_failure([one.text if one.lines == 1 else "" for one in lines])
    failure = range(failure.start, next((at for at in failure if lines[at].lines != 1), failure.stop))
    of_failure, of_head, of_tail = _FAILED if failure else _PLAIN
    all_lines = sum(one.lines for one in lines)
    marks = [note, "", ""] if failure else [note]
    room = limit - 2 - sum(count_tokens(_mark(all_lines, all_lines, all_lines, one, telling=True)) for one in marks)
    room = max(1, room)
    kept = _failing(lines, failure, room * of_failure // 100)
    kept |= {*range(len(_taken(lines, room * of_head // 100)))}
    kept |= _tail(lines, kept, room * of_tail // 100)
    left = room - _cost(lines[place] for place in kept)
    telling = _chosen([one for place, one in enumerate(lines) if place not in kept], left)
    kept |= _tail(lines, kept, left - sum(map(count_tokens, telling.values())))
    return kept, telling


def _failing(lines: Sequence[_Line], failure: range, room: int) -> set[int]:
    """The places of a failure's lines; of a long one, its first lines and twice as many of its last."""
    rows = [lines[place] for place in failure]
    first = _taken(rows, room if _cost(rows) <= room else room // 3)
    last = _taken(rows[len(first) :][::-1], room - _cost(first))
    return {*failure[: len(first)], *failure[len(rows) - len(last) :]}


def _tail(lines: Sequence[_Line], kept: Set[int], room: int) -> set[int]:
    """The places of the last lines that cost at most so much beyond those that stay anyway."""
    taken: set[int] = set()
    for place in range(len(lines) - 1, -1, -1):
        room -= 0 if place in kept else count_tokens(lines[place].text)
        if room < 0 or lines[place].lines != 1:
            break
        taken.add(place)
    return taken


def _written(lines: Sequence[_Line], kept: Set[int], telling: Mapping[int, str], note: str) -> str:
    """The lines that stay; in the place of the others a mark, which says in the widest gap how to see them, and what tells."""
    gaps: dict[int, list[_Line]] = {}
    start = 0
    for place, one in enumerate(lines):
        if place in kept:
            continue
        start = place if place == 0 or place - 1 in kept else start
        gaps.setdefault(start, []).append(one)
    widest = max(gaps, key=lambda at: sum(one.lines for one in gaps[at]), default=0)
    all_lines = sum(one.lines for one in lines)
    out: list[str] = []
    for place, one in enumerate(lines):
        if place in kept:
            out.append(one.text)
        elif place in gaps:
            gap = gaps[place]
            rows = [telling[each.number] for each in gap if each.number in telling]
            words = note if place == widest else ""
            omitted = sum(each.lines for each in gap)
            out += [_mark(gap[0].number, omitted, all_lines, words, telling=bool(rows)), *dict.fromkeys(rows)]
    return "".join(out)


def _lines(text: str) -> list[_Line]:
    """The lines with their numbers in what the program printed, those of an earlier cut counted."""
    found: list[_Line] = []
    number, below = 1, False
    for line in text.splitlines(keepends=True):
        mark, named = _MARKER.match(line), _OF_OMITTED.match(line) if below else None
        if named is not None:
            found.append(_Line(int(named[1]), 0, named[2]))
            continue
        count = int(mark[1]) if mark else 1
        found.append(_Line(number, count, line if len(line) <= _LONGEST else _both_ends(line)))
        number, below = number + count, mark is not None
    return found


def _both_ends(line: str) -> str:
    first, last = _ENDS
    return f"{line[:first]} ... {len(line) - first - last} characters omitted ... {line[-last:]}"


def _taken(lines: Sequence[_Line], room: int) -> list[_Line]:
    """The first lines that cost at most `room` tokens together; what an earlier cut named is never among them."""
    taken: list[_Line] = []
    for one in lines:
        room -= count_tokens(one.text)
        if room < 0 or one.lines != 1:
            break
        taken.append(one)
    return taken


def _cost(lines: Iterable[_Line]) -> int:
    return sum(count_tokens(one.text) for one in lines)


def _chosen(lines: Sequence[_Line], room: int) -> dict[int, str]:
    """The lines that tell how it went, the first of them where there is no room for all, by their numbers."""
    chosen: dict[int, str] = {}
    seen: set[str] = set()
    for one in lines:
        text = one.text.rstrip("\n")
        if not one.tells or text in seen:
            continue
        seen.add(text)
        row = f"  {one.number}: {text[:_LONGEST_TELLING]}{' ...' if len(text) > _LONGEST_TELLING else ''}\n"
        room -= count_tokens(row)
        if room < 0:
            break
        chosen[one.number] = row
    return chosen


def _mark(first: int, omitted: int, all_lines: int, note: str, *, telling: bool) -> str:
    last = first + omitted - 1
    told = f"; {note}".replace("{first}", str(first)).replace("{last}", str(last)) if note else ""
    among = "; those that tell most follow" if telling else ""
    return f"... {omitted} lines omitted ({first}-{last} of {all_lines}){told}{among} ...\n"
