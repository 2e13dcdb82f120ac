"""What every delivery says alike, whatever the workflow: subject, trailers, what was delivered, measured and changed. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.facts.roads import file_kinds
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.workspace.code.relevance import is_test_path

_SUBJECT_LIMIT = 72
_TITLE_LIMIT = 100


def conventional(line: str) -> str:
    """A subject line of at most 72 characters."""
    return line if len(line) <= _SUBJECT_LIMIT else line[: _SUBJECT_LIMIT - 3].rstrip() + "..."


def trailers(state: RunState, trail: tuple[str, int]) -> str:
    """The lines of a commit message that tie the commit to the trail."""
    return f"AgentForge-Task: {state.run_id}\nAgentForge-Trail: {trail[0]} {trail[1]}"


def delivered_parts(state: RunState, made: Mapping[str, object], *, title: str, subject: str) -> dict[str, object]:
    """Which run delivered what, and where it stands.

    Args:
        made: what make_commit returned.
    """
    return {
        "task_id": state.run_id,
        "request": state.request,
        "title": title[:_TITLE_LIMIT],
        "branch": made.get("branch", ""),
        "base_commit": state.base_commit,
        "commits": [{"id": made.get("commit", ""), "subject": subject}],
    }


def changed_parts(facts: Json) -> list[dict[str, object]]:
    """The changed files with their lines, and what was changed in each, where that was measured."""
    kinds = file_kinds(facts)
    return [
        {
            "path": item.get("path"),
            "lines_added": item.get("added", 0),
            "lines_removed": item.get("removed", 0),
            **({"kind": kinds[path]} if (path := str(item.get("path"))) in kinds else {}),
        }
        for item in items(facts.get("changes"))
    ]


def measured_parts(state: RunState, made: Mapping[str, object]) -> dict[str, object]:
    """What was measured on the delivered tree, with the controls."""
    facts = judged(state.facts, {})
    report = facts.get("conformance")
    checked = report if isinstance(report, Mapping) else {}
    return {
        "tree": made.get("tree", ""),
        "tests_run": facts.get("tests_run", 0),
        "no_regressions": facts.get("no_regressions") is True,
        "conformance_passing": checked.get("passed") is True,
        "checks": texts(checked.get("ran")),
        "controls": facts.get("controls", {}),
        "failing_at_base": state.facts.get("baseline", {}).get("failing", []),
    }


def product_changes(changed_lines: Mapping[str, list[str]], *, tests: set[str]) -> list[dict[str, str]]:
    """The changed line ranges of all files but the run's own tests.

    Args:
        changed_lines: path -> changed line ranges of the new file ("12-18").
    """
    return [{"path": path, "lines": ",".join(ranges)} for path, ranges in changed_lines.items() if path not in tests]


def changed_tests(facts: Json, *, tests: set[str]) -> list[str]:
    """Changed test files that are not the run's own."""
    paths = [str(item.get("path")) for item in items(facts.get("changes"))]
    return [path for path in paths if is_test_path(path) and path not in tests]
