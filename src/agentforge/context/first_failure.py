"""Where the first failure stands in what a test runner or a program printed: all that it says of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST = 80
"""Lines of a failure at most: what is longer is a log."""
_FORMS = tuple(
    (re.compile(start), re.compile(end))
    for start, end in (
        (r"_{3,} .+ _{3,}$", r"_{3,} .+ _{3,}$|={3,}"),  # pytest
        (r"(?:FAIL|ERROR): .+ \(.+\)", r"={20,}$|Ran \d+ tests?"),  # unittest
        (r" *● (?!Console)\S", r" *● |Tests?:|Test Suites:|FAIL |PASS "),  # jest
        (r" *FAIL +\S+ > ", r" *FAIL +\S+ > |⎯{5,}"),  # vitest
        (r"--- FAIL: ", r"\S"),  # go
        (r"---- .+ stdout ----$", r"---- .+ stdout ----$|failures:$"),  # cargo
        (r" *not ok \d+", r" *(?:not )?ok \d+|# |1\.\.\d+"),  # TAP
        (r" +\d+ failing$", r" +2\) "),  # mocha
        (r"test at \S+:\d+:\d+$", r"test at \S+:\d+:\d+$"),  # node
        (r"error(?:\[\w+\])?: ", r"$"),  # rustc
    )
)
_TRACEBACK = re.compile(r"( *)Traceback \(most recent call last\):")


def first_failure(lines: Sequence[str]) -> range:
    """The places of the lines that tell of the first failure; an empty range where no runner's form is recognised."""
    for place, line in enumerate(lines):
        traceback = _TRACEBACK.match(line)
        if traceback:
            return _whole(place, _behind_traceback(lines, place, traceback[1]))
        for start, end in _FORMS:
            if start.match(line):
                last = next(
                    (at for at in range(place + 1, len(lines)) if end.match(lines[at].rstrip("\n"))), len(lines)
                )
                if last > place + 1:
                    return _whole(place, last)
    return range(0)


def _whole(first: int, behind: int) -> range:
    return range(first, min(behind, first + _MOST))


def _behind_traceback(lines: Sequence[str], place: int, indent: str) -> int:
    """The line behind the exception, which stands where the traceback begins and not deeper."""
    for at in range(place + 1, len(lines)):
        if lines[at].startswith(indent) and not lines[at][len(indent) :].startswith(" ") and lines[at].strip():
            return at + 1
    return len(lines)
