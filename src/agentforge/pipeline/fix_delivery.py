"""What a fix delivers besides the tree: the words of its commit and its report. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.state import RunState
from agentforge.pipeline.delivery import answers, check_names, cost, limits
from agentforge.pipeline.scope import suite_files
from agentforge.pipeline.stage import items
from agentforge.workspace.relevance import is_test_path

_SUBJECT_LIMIT = 72
_TOLD = 20


def fix_message(state: RunState, *, trail: tuple[str, int]) -> str:
    """Conventional subject, the violations, and the trailers that tie the commit to the trail."""
    rows = items(state.artifacts.get("analyze", {}).get("violations"))
    body = "\n".join(f"- {_place(row)}: {row.get('message')}" for row in rows[:_TOLD])
    if len(rows) > _TOLD:
        body += f"\n- and {len(rows) - _TOLD} more"
    trailers = f"AgentForge-Task: {state.run_id}\nAgentForge-Trail: {trail[0]} {trail[1]}"
    return "\n\n".join([fix_subject(state), body, trailers]) + "\n"


def fix_subject(state: RunState) -> str:
    """`fix: RULE in FILE`, at most 72 characters."""
    rows = items(state.artifacts.get("analyze", {}).get("violations"))
    rules = list(dict.fromkeys(str(row.get("rule")) for row in rows))
    files = list(dict.fromkeys(str(row.get("file")) for row in rows))
    where = files[0] if len(files) == 1 else f"{len(files)} files"
    line = f"fix: {', '.join(rules)} in {where}"
    return line if len(line) <= _SUBJECT_LIMIT else line[: _SUBJECT_LIMIT - 3].rstrip() + "..."


def fix_report(
    state: RunState, made: Mapping[str, object], changed_lines: Mapping[str, list[str]]
) -> dict[str, object]:
    """The report: each violation with the tests that guard its place and the lines that repair it, then what was measured.

    Args:
        made: what make_commit returned.
        changed_lines: path -> changed line ranges of the new file.
    """
    facts = state.facts.get("verify", {})
    return {
        "task_id": state.run_id,
        "request": state.request,
        "title": fix_subject(state)[:100],
        "answers": answers(state),
        "branch": made.get("branch", ""),
        "base_commit": state.base_commit,
        "commits": [{"id": made.get("commit", ""), "subject": fix_subject(state)}],
        "requirements": _trace(state, changed_lines),
        "changes": [
            {"path": item.get("path"), "lines_added": item.get("added", 0), "lines_removed": item.get("removed", 0)}
            for item in items(facts.get("changes"))
        ],
        "verification": {
            "tree": made.get("tree", ""),
            "repaired_by": state.artifacts.get("change", {}).get("by", ""),
            "violations_gone": facts.get("violations_left") == [],
            "tests_run": facts.get("tests_run", 0),
            "all_tests_pass": facts.get("no_regressions") is True,
            "no_regressions": facts.get("no_regressions") is True,
            "conformance_passing": _passed(facts.get("conformance")),
            "checks": check_names(facts.get("conformance")),
            "controls": facts.get("controls", {}),
            "failing_at_base": state.facts.get("baseline", {}).get("failing", []),
        },
        "cost": cost(state),
        "limits": _limits(state),
        "follow_ups": [],
    }


def _trace(state: RunState, changed_lines: Mapping[str, list[str]]) -> list[dict[str, object]]:
    """Violation -> guard tests -> changed lines of its file."""
    guards = [
        f"{file.get('path')}::{test.get('name')}"
        for file in items(state.artifacts.get("guard", {}).get("test_files"))
        for test in items(file.get("tests"))
    ]
    own = set(suite_files(state))
    lines = {path: ",".join(ranges) for path, ranges in changed_lines.items() if path not in own}
    return [
        {
            "id": row.get("violation_id", ""),
            "description": f"{_place(row)} {row.get('message')}",
            "tests": guards,
            "changes": [{"path": path, "lines": text} for path, text in lines.items()],
        }
        for row in items(state.artifacts.get("analyze", {}).get("violations"))
    ]


def _limits(state: RunState) -> list[str]:
    """What the verification does not say, in words."""
    told = limits(state)
    if state.artifacts.get("change", {}).get("by") == "model":
        changed = [str(item.get("path")) for item in items(state.facts.get("verify", {}).get("changes"))]
        tests = [path for path in changed if is_test_path(path) and path not in suite_files(state)]
        if tests:
            told.append(f"test files were changed by the model, look at them: {', '.join(tests[:5])}")
    return told


def _place(row: Mapping[str, object]) -> str:
    line = f":{row['line']}" if row.get("line") else ""
    return f"{row.get('rule')} {row.get('file')}{line}"


def _passed(report: object) -> bool:
    return isinstance(report, Mapping) and report.get("passed") is True
