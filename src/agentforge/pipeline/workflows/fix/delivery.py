"""What a fix delivers besides the tree: the words of its commit and its report. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.delivery.report import (
    answers,
    changed_parts,
    changed_tests,
    conventional,
    cost,
    delivered_parts,
    limits,
    measured_parts,
    product_changes,
    trailers,
)
from agentforge.pipeline.model.scope import suite_files
from agentforge.pipeline.model.stage import items

_TOLD = 20


def fix_message(state: RunState, *, trail: tuple[str, int]) -> str:
    """Conventional subject, the violations, and the trailers that tie the commit to the trail."""
    rows = items(state.work.artifacts.get("analyze", {}).get("violations"))
    body = "\n".join(f"- {_place(row)}: {row.get('message')}" for row in rows[:_TOLD])
    if len(rows) > _TOLD:
        body += f"\n- and {len(rows) - _TOLD} more"
    return "\n\n".join([fix_subject(state), body, trailers(state, trail)]) + "\n"


def fix_subject(state: RunState) -> str:
    """`fix: RULE in FILE`, at most 72 characters."""
    rows = items(state.work.artifacts.get("analyze", {}).get("violations"))
    rules = list(dict.fromkeys(str(row.get("rule")) for row in rows))
    files = list(dict.fromkeys(str(row.get("file")) for row in rows))
    where = files[0] if len(files) == 1 else f"{len(files)} files"
    return conventional(f"fix: {', '.join(rules)} in {where}")


def fix_report(
    state: RunState, made: Mapping[str, object], changed_lines: Mapping[str, list[str]]
) -> dict[str, object]:
    """The report: each violation with the tests that guard its place and the lines that repair it, then what was measured.

    Args:
        made: what make_commit returned.
        changed_lines: path -> changed line ranges of the new file.
    """
    facts = state.work.facts.get("verify", {})
    subject = fix_subject(state)
    return {
        **delivered_parts(state, made, title=subject, subject=subject),
        "answers": answers(state),
        "requirements": _trace(state, changed_lines),
        "changes": changed_parts(facts),
        "verification": {
            **measured_parts(state, made),
            "repaired_by": state.work.artifacts.get("change", {}).get("by", ""),
            "violations_gone": facts.get("violations_left") == [],
            "all_tests_pass": facts.get("no_regressions") is True,
        },
        "cost": cost(state),
        "limits": _limits(state),
        "follow_ups": [],
    }


def _trace(state: RunState, changed_lines: Mapping[str, list[str]]) -> list[dict[str, object]]:
    """Violation -> guard tests -> changed lines of its file."""
    guards = [
        f"{file.get('path')}::{test.get('name')}"
        for file in items(state.work.artifacts.get("guard", {}).get("test_files"))
        for test in items(file.get("tests"))
    ]
    changes = product_changes(changed_lines, tests=set(suite_files(state)))
    return [
        {
            "id": row.get("violation_id", ""),
            "description": f"{_place(row)} {row.get('message')}",
            "tests": guards,
            "changes": changes,
        }
        for row in items(state.work.artifacts.get("analyze", {}).get("violations"))
    ]


def _limits(state: RunState) -> list[str]:
    """What the verification does not say, in words."""
    told = limits(state)
    if state.work.artifacts.get("change", {}).get("by") == "model":
        tests = changed_tests(state.work.facts.get("verify", {}), tests=set(suite_files(state)))
        if tests:
            told.append(f"test files were changed by the model, look at them: {', '.join(tests[:5])}")
    return told


def _place(row: Mapping[str, object]) -> str:
    line = f":{row['line']}" if row.get("line") else ""
    return f"{row.get('rule')} {row.get('file')}{line}"
