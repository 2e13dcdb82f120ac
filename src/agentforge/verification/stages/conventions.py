"""New suppressions that are only told: they hide nothing from the verifier, or follow the practice of their own file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentforge.verification.source.new_places import Place, Read
from agentforge.verification.source.suppressions import suppressed_lines

_NOQA = re.compile(r"#\s*noqa:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)", re.IGNORECASE)
_ANY = re.compile(r"#\s*(?:noqa|type:|pragma:|pylint:|mypy:|pyright:|ruff:|nosec|fmt:|ty:)|skip|xfail", re.IGNORECASE)
_COVERAGE = re.compile(r"#\s*pragma:\s*no\s*(?:cover|branch)\b", re.IGNORECASE)
_DEFECTS = ("E9", "F4", "F5", "F6", "F7", "F8", "F9", "B", "S", "PLE", "ASYNC", "BLE", "TRY")
"""Rules that hide a defect, not a taste: nobody's practice excuses a new one. F401 and F403 are about taste in a package."""
_TASTE = ("F401", "F403")


def by_practice(found: Sequence[Place], *, before: Read) -> tuple[list[Place], list[Place]]:
    """Part new suppressions into those that are refused and those that are only told.

    Told is a `# noqa: CODE` alone on its line, whose every code is of taste and is suppressed by the same code in the same
    file at the base, and a `# pragma: no cover`: which lines no test runs is measured without heeding it. Bare ones, type
    ignores, skips and everything else are refused.
    """
    refused: list[Place] = []
    told: list[Place] = []
    for one in found:
        codes = _codes(one.text)
        practised = {code for text in suppressed_lines(one.path, before(one.path)) for code in _codes(text)}
        is_told = _is_of_coverage(one.text) or (codes and codes <= practised)
        (told if is_told else refused).append(one)
    return refused, told


def _is_of_coverage(line: str) -> bool:
    """Whether a line only tells the project's own measurement of coverage to look away."""
    return bool(_COVERAGE.search(line)) and len(_ANY.findall(line)) == 1


def _codes(line: str) -> frozenset[str]:
    """The codes of taste that a line suppresses; none when it suppresses anything else, too."""
    match = _NOQA.search(line)
    if match is None or len(_ANY.findall(line)) != 1:
        return frozenset()
    codes = frozenset(code.upper() for code in re.split(r"[,\s]+", match["codes"]))
    grave = any(code.startswith(_DEFECTS) and code not in _TASTE for code in codes)
    return frozenset() if grave else codes
