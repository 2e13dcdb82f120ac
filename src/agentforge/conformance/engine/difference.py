"""What a formatter would write otherwise, in the words of its finding: who reads it need not guess the project's style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff

from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import CheckCrashedError, Site

_FILES, _LINES, _WIDTH = 3, 8, 160


def with_difference(
    site: Site, findings: Sequence[Finding], rewrite: Callable[[Site, Sequence[Finding]], Mapping[str, bytes]]
) -> list[Finding]:
    """Say in the first findings of whole files which lines the formatter takes out and which it writes.

    Args:
        rewrite: gives the files of findings as the formatter writes them; where it fails, the findings stay as they are.
    """
    first = list(dict.fromkeys(one.path for one in findings))[:_FILES]
    try:
        written = rewrite(site, [one for one in findings if one.path in first]) if first else {}
    except CheckCrashedError:
        written = {}
    return [_told(site, one, written[one.path]) if one.path in written else one for one in findings]


def _told(site: Site, finding: Finding, written: bytes) -> Finding:
    old = (site.checkout / finding.path).read_bytes().decode("utf-8", "replace").splitlines()
    new = written.decode("utf-8", "replace").splitlines()
    lines = [line for line in list(unified_diff(old, new, lineterm="", n=0))[2:] if not line.startswith("@@")]
    more = [f"({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
    shown = "\n".join([*(line[:_WIDTH] for line in lines[:_LINES]), *more])
    return replace(finding, message=f"{finding.message}; it writes (+) instead of (-):\n{shown}") if lines else finding
