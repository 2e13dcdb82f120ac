"""How a view of a file looks in a context: numbered lines, a short line for each gap, a fence around what is foreign. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from agentforge.canonical import digest_bytes
from agentforge.context.sections import View, runs_of
from agentforge.safety.text.hygiene import wrap
from agentforge.tokens import count_tokens

GAP = 9
"""Tokens of the line that names a gap."""
_MARK_LETTERS = 10


def view_text(view: View, numbers: set[int], *, missing: set[int], room: int) -> tuple[str, int]:
    """A view as it is shown.

    Args:
        numbers: of the lines that are shown.
        missing: those that were wanted and found no room.
        room: tokens for words about the gaps beyond their bare numbers.
    Returns:
        The text, and what of that room was used.
    """
    if not numbers:
        return f"## {view.path} ({view.state})\n", 0
    rows, left, width, before, told = [], room, len(str(max(numbers))), 0, False
    for first, last in [*runs_of(numbers), (view.total + 1, view.total)]:
        gap = set(range(before + 1, first))
        if gap and (gap & missing or (before and first <= view.total)):
            inner = before > 0 and first <= view.total
            row, spent = _gap_text(
                view, before + 1, first - 1, wanted=sorted(gap & missing), inner=inner, room=left, short=told
            )
            told = told or "read_file" in row
            rows += [row] if row else []
            left -= spent
        rows += [f"{number:>{width}} {view.lines[number]}".rstrip() for number in range(first, last + 1)]
        before = last
    size = "whole" if len(numbers) == view.total else f"of {view.total} lines"
    state = f"; {view.state}" if view.state else ""
    return f"## {view.path} ({size}{state})\n{fenced(chr(10).join(rows), foreign=True)}\n", room - left


def _gap_text(
    view: View, first: int, last: int, *, wanted: list[int], inner: bool, room: int, short: bool
) -> tuple[str, int]:
    """One line for a gap: its lines, how to see what was wanted of it, else what is defined there; and what the words cost.

    Args:
        short: how to see it was told at an earlier gap of the view.
    """
    plain = f"... {first}-{last} ..." if last > first else f"... {first} ..."
    names = [name for number, name in sorted(view.names.items()) if first <= number <= last]
    told = f"... {first}-{last}: {', '.join(names)} ..." if names else plain
    if wanted:
        told = f"... {first}-{last}: no room for {wanted[0]}-{wanted[-1]}"
        call = f"; read_file path={view.path} offset={wanted[0]} limit={wanted[-1] - wanted[0] + 1}"
        told = f"... {first}-{last} (no room) ..." if short else f"{told}{call} ..."
    bare = plain if inner else ""
    extra = count_tokens(told) - count_tokens(bare) + (not bare)
    return (told, extra) if extra <= room else (bare, 0)


def fenced(text: str, *, foreign: bool) -> str:
    """A text as a context shows it; the fence's mark is a digest, so that the same text stays the same bytes."""
    if not foreign:
        return text.rstrip()

    text = text.rstrip()
    return wrap(text, nonce=digest_bytes(text.encode("utf-8", "replace")).rpartition(":")[2][:_MARK_LETTERS])


def line_costs(view: View) -> dict[int, int]:
    """What each line of a view costs, its number included."""
    return {number: count_tokens(f"{number} {line}") + 1 for number, line in view.lines.items()}


def inner_gaps(numbers: set[int]) -> list[tuple[int, int]]:
    """The ranges between numbers."""
    runs = runs_of(numbers)
    return [(last + 1, following - 1) for (_, last), (following, _) in pairwise(runs)]


def bridge(costs: Mapping[int, int], first: int, last: int) -> int | None:
    """What showing a gap costs, where that is no more than naming it; None = it is named."""
    if last - first >= GAP or any(number not in costs for number in range(first, last + 1)):
        return None
    cost = sum(costs[number] for number in range(first, last + 1))
    return cost if cost <= GAP else None


def ranges(numbers: Iterable[int], *, most: int | None = None) -> str:
    """Numbers as a text, `40-95, 120`; of more than `most` ranges the first, and how many there are."""
    told = [f"{first}-{last}" if last > first else str(first) for first, last in runs_of(numbers)]
    more = f" and {len(told) - most} more ranges" if most is not None and len(told) > most else ""
    return ", ".join(told[:most]) + more
