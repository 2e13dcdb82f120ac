"""What of a changed text is new: of a line that was only extended, what stood there before is not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

Span = tuple[int, int]
"""Where something stands in the text: the first character, and the one behind it."""

_WORD = re.compile(r"\w+|[^\w\s]")
_LONGEST = 20_000
"""Characters of a piece beyond which nothing is compared: all of it counts as new."""
_KEPT_SHARE = 0.5
"""An old line of which less is left is gone, and what equals its parts does so by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPart:
    """The places of a text that a change touched.

    Attributes:
        lines: a bit for each changed line.
        new: words that were not there before, and those beside which something was taken away.
        worn: words that are left of an old line which lost some.
        compared: the pieces that took the place of old lines; in a changed line outside of them everything is new.
    """

    lines: int
    new: Sequence[Span] = field(default=())
    worn: Sequence[Span] = field(default=())
    compared: Sequence[Span] = field(default=())

    def holds(self, line: int, span: Span, around: Span, *, plain: bool) -> bool:
        """Whether something that begins in a line is of the change: the line is changed, and it did not stand there before.

        Args:
            span: where it stands.
            around: where the smallest thing stands that it is a part of.
            plain: it is one word or text, which means what the things beside it make of it.
        """
        if not self.lines >> line & 1:
            return False
        if not any(first <= span[0] and span[1] <= last for first, last in self.compared) or _meets(self.new, span):
            return True
        return plain and _meets(self.worn, span) and _meets(self.new, around)

    def holds_node(self, node: SgNode) -> bool:
        """The same for a node of a syntax tree."""
        place, around = node.range(), (node.parent() or node).range()
        plain = "string" in node.kind() or not any(one.is_named() for one in node.children())
        spans = [(one.start.index, one.end.index) for one in (place, around)]
        return self.holds(place.start.line + 1, *spans, plain=plain)


def changed_part(before: str | None, after: str, *, lines: int) -> ChangedPart:
    """Compare the changed lines of a text with the lines that they took the place of, word by word.

    Args:
        before: the text as it was; None = there was none, and everything in a changed line is new.
        lines: a bit for each changed line of `after`.
    """
    new: list[Span] = []
    worn: list[Span] = []
    compared: list[Span] = []
    for old, piece in _pieces(before, after, lines) if before is not None else ():
        now = _words(after[slice(*piece)], at=piece[0])
        held, lost = _held([_words(line) for line in old], now)
        fresh = [one[1:] for place, one in enumerate(now) if place not in held]
        if not fresh and len("\n".join(old)) >= piece[1] - piece[0]:
            continue  # the same words, no deeper than before: what differs is what they stand below
        new += fresh
        worn += [now[place][1:] for place in lost]
        compared.append(piece)
    return ChangedPart(lines=lines, new=new, worn=worn, compared=compared)


def new_lines(before: Iterable[str], after: Mapping[str, str], changed: Mapping[str, int]) -> dict[str, int]:
    """The changed lines that are not lines of the old texts in another place, whatever file they moved to and however deep.

    Args:
        before: the old texts of all files that the change touched.
        after: their new texts, by path.
        changed: a bit for each changed line, by path.
    """
    lines = {path: [line.strip() for line in text.split("\n")] for path, text in after.items()}
    gone = Counter(line.strip() for text in before for line in text.split("\n"))
    for path, bits in changed.items():
        gone.subtract(line for number, line in enumerate(lines[path], 1) if not bits >> number & 1)
    left = {}
    for path, bits in changed.items():
        left[path] = bits
        for number, line in enumerate(lines[path], 1):
            if bits >> number & 1 and gone[line] > 0:
                gone[line] -= 1
                left[path] &= ~(1 << number)
    return left


_Word = tuple[str, int, int]


def _words(text: str, *, at: int = 0) -> list[_Word]:
    return [(one.group(), at + one.start(), at + one.end()) for one in _WORD.finditer(text)]


def _pieces(before: str, after: str, lines: int) -> Iterator[tuple[list[str], Span]]:
    """The old lines and the new text of each piece that was replaced."""
    old, now = before.split("\n"), after.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in now)]
    marked = [f"\n{number}" if lines >> number & 1 else line for number, line in enumerate(now, 1)]  # equal to no line
    for sign, first, last, start, end in SequenceMatcher(None, old, marked).get_opcodes():
        if sign == "replace" and starts[end] - starts[start] <= _LONGEST:
            yield old[first:last], (starts[start], starts[end] - 1)


def _held(old: Sequence[Sequence[_Word]], now: Sequence[_Word]) -> tuple[frozenset[int], frozenset[int]]:
    """Which of the new words stood there before with nothing gone beside them, and which of these are of lines that lost some."""
    words = [(number, one[0]) for number, line in enumerate(old) for one in line]
    matcher = SequenceMatcher(None, [word for _, word in words], [one[0] for one in now], autojunk=False)
    kept = {first + step: place + step for first, place, size in matcher.get_matching_blocks() for step in range(size)}
    left = Counter(words[at][0] for at in kept)
    lives = {number for number, line in enumerate(old) if left[number] >= _KEPT_SHARE * len(line)}
    beside = set()
    for (at, place), (behind, other) in pairwise([(-1, -1), *sorted(kept.items()), (len(words), len(now))]):
        if other == place + 1 and any(words[gone][0] in lives for gone in range(at + 1, behind)):
            beside |= {place, other}
    held = {place: words[at][0] for at, place in kept.items() if words[at][0] in lives and place not in beside}
    return frozenset(held), frozenset(place for place, number in held.items() if left[number] < len(old[number]))


def _meets(spans: Sequence[Span], span: Span) -> bool:
    return any(first < span[1] and span[0] < last for first, last in spans)
