"""What a delivered task shows first: what was assumed, what is proved, and the commands that take it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.events.state.run_state import RunState

Row = Mapping[str, Any]


def card_of(state: RunState, *, draft: Row | None = None) -> dict[str, Any] | None:
    """The delivery of a run as people decide about it; None where nothing was delivered. Every number was measured.

    Args:
        draft: the report of a delivery that waits for approval.
    """
    report, delivered = draft or state.artifacts.get("deliver"), state.delivered or {}
    if not report or not (delivered or draft):
        return None
    base = state.base_commit[:12]
    return {
        "title": _subject(report) or str(report.get("title") or "Delivery"),
        "branch": state.branch,
        "delivered": bool(delivered),
        "commit": str(delivered.get("commit") or ""),
        "look": f"git diff {base} {state.branch}",
        "merge": f"git merge {state.branch}",
        "assumptions": _rows(report, "assumptions"),
        "answers": _rows(report, "answers"),
        "proved": _proved(report),
        "checks": _checks(report),
        "survivors": [row for row in _rows(_mapping(report.get("mutation")), "survivors") if not row.get("equivalent")],
        "untested": _rows(report, "untested"),
        "files": _rows(report, "changes"),
        "limits": _texts(report.get("limits")),
        "notes": _rows(report, "notes"),
        "follow_ups": _texts(report.get("follow_ups")),
    }


def _subject(report: Row) -> str:
    commits = _rows(report, "commits")
    return str(commits[0].get("subject") or "") if commits else ""


def _proved(report: Row) -> list[dict[str, Any]]:
    """Each part of the request with the tests that show it; where the request was not taken apart, each requirement."""
    asks = _rows(report, "asks")
    if asks:
        return [
            {
                "text": row.get("text"),
                "then": "; ".join(str(row[name]) for name in ("becomes", "note") if row.get(name)),
                "tests": _texts(row.get("tests")),
                "lines": row.get("lines"),
            }
            for row in asks
        ]
    return [
        {
            "text": row.get("description"),
            "then": "; ".join(str(row[name]) for name in ("id", "note") if row.get(name)),
            "tests": _texts(row.get("tests")),
            "lines": None,
        }
        for row in _rows(report, "requirements")
    ]


def _checks(report: Row) -> list[tuple[bool, str]]:
    """(whether it holds, what was measured) for the whole tree."""
    found, score = _mapping(report.get("verification")), _mapping(report.get("mutation"))
    if not found:
        return []
    known, passes = len(_texts(found.get("failing_at_base"))), found.get("all_tests_pass") is True
    besides = f" but {known} that failed before, too" if known else ""
    ran = f"{found.get('tests_run')} tests ran in a fresh checkout"
    told = [
        (passes, f"{ran}, and all{besides} pass" if passes else f"{ran}, and some fail"),
        (
            found.get("no_regressions") is True,
            "Nothing that worked before is broken"
            if found.get("no_regressions")
            else "A test that passed before fails",
        ),
        (found.get("conformance_passing") is True, f"Checks: {', '.join(_texts(found.get('checks'))) or 'none'}"),
    ]
    if score.get("run"):
        killed, every = score.get("killed"), score.get("run")
        told.append((killed == every, f"The tests notice {killed} of {every} small wrong changes (mutants)"))
    controls = _mapping(found.get("controls"))
    if "held" in controls:
        held = controls["held"] is True
        told.append((held, "The controls of the measurement held" if held else "A control of the measurement failed"))
    return told


def analysis_of(state: RunState) -> dict[str, Any] | None:
    """What an analysis came to, where the request asked for nothing else."""
    found = state.artifacts.get("analyze")
    if state.outcome != "analyzed" or not found:
        return None
    return {
        "summary": str(found.get("summary") or ""),
        "findings": _texts(found.get("findings")),
        "risks": [str(row.get("description") or "") for row in _rows(found, "risks")],
        "constraints": _texts(found.get("constraints")),
    }


def _mapping(value: object) -> Row:
    return value if isinstance(value, Mapping) else {}


def _rows(value: Row, name: str) -> list[Row]:
    found = value.get(name)
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, Sequence) else []


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
