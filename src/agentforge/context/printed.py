"""What a program printed, made short: its beginning, its end, and of what lies between the lines that tell how it went. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentforge.tokens import count_tokens, cut_end

WAYS_TO_SEE: Mapping[str, str] = {
    "shell": "the same command with `2>&1 | sed -n '{first},{last}p'` shows as many of them as there is room for",
    "run_tests": "run_tests with the names of fewer tests shows them",
    "run_checks": "run_checks with fewer paths shows them",
    "jobs": "a command that prints less shows more of it",
}
"""How the model sees what a cut leaves out of what a tool's program printed; {first} and {last} are numbers of lines."""

_HEAD, _TELLING, _TAIL = 25, 30, 45
"""Percent of the room; what one part does not need goes to the others."""
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
        `text` when it fits, else its head, "... N lines omitted (A-B of ALL) ...", below it those of these lines that tell of
        failures and sums, each with its number, and its tail.
    """
    if count_tokens(text) <= limit:
        return text
    lines = _lines(text)
    whole = "".join(one.text for one in lines)
    if all(one.lines == 1 for one in lines) and count_tokens(whole) <= limit:
        return whole
    all_lines = sum(one.lines for one in lines)
    room = max(1, limit - count_tokens(_mark(all_lines, all_lines, all_lines, note, telling=True)) - 2)
    head = _taken(lines, room * _HEAD // 100)
    tail = _taken(lines[len(head) :][::-1], room * _TAIL // 100)[::-1]
    telling = _chosen(_between(lines, head, tail), room - _cost(head) - _cost(tail))
    tail = _taken(lines[len(head) :][::-1], room - _cost(head) - sum(map(count_tokens, telling.values())))[::-1]
    if not head and not tail and not telling:
        return cut_end(text, limit=limit)
    left = _between(lines, head, tail)
    told = [row for number, row in telling.items() if any(one.number == number for one in left)]
    first, omitted = left[0].number, sum(one.lines for one in left)
    mark = _mark(first, omitted, all_lines, note, telling=bool(told))
    return "".join([*(one.text for one in head), mark, *told, *(one.text for one in tail)])


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


def _between(lines: Sequence[_Line], head: Sequence[_Line], tail: Sequence[_Line]) -> Sequence[_Line]:
    return lines[len(head) : len(lines) - len(tail)]


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
