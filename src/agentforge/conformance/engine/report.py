"""What an agent reads of the checks: new findings first, short."""

from __future__ import annotations

from agentforge.conformance.engine.check_engine import CheckReport, Comparison, compare
from agentforge.conformance.engine.finding import Finding
from agentforge.tokens import count_tokens, cut_end

_LINE_LIMIT_TOKENS = 70


def report_for_agent(report: CheckReport | Comparison, *, limit_tokens: int = 600) -> str:
    """Write findings for a model to act on.

    Args:
        report: a comparison with the base, or a single run (then every finding is shown as new).
        limit_tokens: of the whole text, >= 60.
    """
    compared = report if isinstance(report, Comparison) else compare(None, report)
    lines = [_head(compared)]
    lines += [f"crashed: {absence.check}: {absence.reason}" for absence in compared.crashed]
    lines += [_line(finding) for finding in compared.new]
    if compared.unavailable:
        for why, missing in (("crashed at the base too", False), ("not installed", True)):
            names = ", ".join(absence.check for absence in compared.unavailable if absence.missing is missing)
            lines += [f"not judged, {why}: {names}"] if names else []
    lines += [f"note: {_line(finding)}" for finding in compared.notes]
    return _within([cut_end(line, limit=_LINE_LIMIT_TOKENS) for line in lines], limit_tokens)


def _head(compared: Comparison) -> str:
    ran = ", ".join(compared.ran) or "no check"
    if compared.passed:
        return f"checks passed ({ran}); findings {compared.before} at the base, {compared.after} now"
    crashed = f", {len(compared.crashed)} check(s) crashed" if compared.crashed else ""
    return f"checks FAILED ({ran}): {len(compared.new)} new finding(s){crashed}"


def _line(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}:{finding.column}" if finding.line else finding.path
    return f"{place} {finding.check}/{finding.rule_id} {' '.join(finding.message.split())}"


def _within(lines: list[str], limit: int) -> str:
    """The first lines that fit, and how many did not."""
    kept: list[str] = []
    room = limit - 12
    for number, line in enumerate(lines):
        room -= count_tokens(line) + 1
        if room < 0 and number:
            return "\n".join([*kept, f"... {len(lines) - number} more lines omitted ..."])
        kept.append(line)
    return "\n".join(kept)
