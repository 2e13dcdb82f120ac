"""Put the hunks of a patch into a text by what stands around them, not by their line numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentforge.workspace.files.patchformat import Hunk


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
