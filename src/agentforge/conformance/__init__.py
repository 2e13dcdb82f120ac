"""Conformance: what linters and type checkers say of changed files, compared with what they said of the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.conformance.contracts.code_contract import with_commands
    from agentforge.conformance.engine.catalogue import check_names, chosen_checks, project_files
    from agentforge.conformance.engine.check_engine import (
        CheckReport,
        Comparison,
        compare,
        contracts_in,
        line_reader,
        own_files,
        report_from,
        run_checks,
    )
    from agentforge.conformance.engine.finding import Finding, finding_from
    from agentforge.conformance.engine.fix import fix_findings
    from agentforge.conformance.engine.report import report_for_agent
    from agentforge.conformance.engine.sarif import to_sarif
    from agentforge.conformance.engine.sarif_imports import fresh_imports, still_there
    from agentforge.conformance.engine.site import Check, Site, surroundings
    from agentforge.conformance.engine.violation import (
        BASELINE,
        Violation,
        baseline_text,
        read_baseline,
        violation_id,
        violations,
    )
else:
    __getattr__ = front(
        __name__,
        {
            "contracts.code_contract": ("with_commands",),
            "engine.catalogue": ("check_names", "chosen_checks", "project_files"),
            "engine.check_engine": (
                "CheckReport",
                "Comparison",
                "compare",
                "contracts_in",
                "line_reader",
                "own_files",
                "report_from",
                "run_checks",
            ),
            "engine.finding": ("Finding", "finding_from"),
            "engine.fix": ("fix_findings",),
            "engine.report": ("report_for_agent",),
            "engine.sarif": ("to_sarif",),
            "engine.sarif_imports": ("fresh_imports", "still_there"),
            "engine.site": ("Check", "Site", "surroundings"),
            "engine.violation": (
                "BASELINE",
                "Violation",
                "baseline_text",
                "read_baseline",
                "violation_id",
                "violations",
            ),
        },
    )

__all__ = [
    "BASELINE",
    "Check",
    "CheckReport",
    "Comparison",
    "Finding",
    "Site",
    "Violation",
    "baseline_text",
    "check_names",
    "chosen_checks",
    "compare",
    "contracts_in",
    "finding_from",
    "fix_findings",
    "fresh_imports",
    "line_reader",
    "own_files",
    "project_files",
    "read_baseline",
    "report_for_agent",
    "report_from",
    "run_checks",
    "still_there",
    "surroundings",
    "to_sarif",
    "violation_id",
    "violations",
    "with_commands",
]
