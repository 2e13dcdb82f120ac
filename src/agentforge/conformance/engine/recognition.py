"""Knowing findings again in another tree: lines that moved, files that were renamed. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol


class KnownViolation(Protocol):
    """What must be remembered of a finding to know it again."""

    @property
    def fingerprint(self) -> str:
        """The same while the finding stays in its file."""

    @property
    def content(self) -> str:
        """The same for equal lines in any file."""

    @property
    def path(self) -> str:
        """Its file."""


def known_again(
    found: Sequence[KnownViolation], before: Iterable[KnownViolation], *, present: Iterable[str] | None = None
) -> Mapping[str, str]:
    """Match findings with earlier ones: fingerprint -> earlier fingerprint.

    First by fingerprint. Then an earlier finding of a file that is gone is known again by its line, in a file that had
    no findings before.

    Args:
        present: paths that exist now; None = the files of `found`.
    """
    earlier = list(before)
    ours = {one.fingerprint for one in found}
    same = {one.fingerprint: one.fingerprint for one in earlier if one.fingerprint in ours}
    here = {one.path for one in found} if present is None else set(present)
    had = {one.path for one in earlier}
    waiting: dict[str, list[str]] = defaultdict(list)
    for one in earlier:
        if one.fingerprint not in ours and one.path not in here:
            waiting[one.content].append(one.fingerprint)
    for one in found:
        if one.fingerprint not in same and one.path not in had and waiting[one.content]:
            same[one.fingerprint] = waiting[one.content].pop(0)
    return same
