"""CHANGE: the repair. First what the checks offer, at no token; a model where that is nothing or not enough."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.scope import fix_scope
from agentforge.pipeline.model.stage import Json, Stage, items


def needs_model(state: RunState) -> bool:
    """No check offers a repair, or what it offered did not hold."""
    repairs = state.work.facts.get("analyze", {}).get("repairs")
    return not (isinstance(repairs, Mapping) and repairs) or bool(state.review.findings)


def draft(state: RunState) -> dict[str, object]:
    """The files that the checks repaired."""
    repairs = state.work.facts.get("analyze", {}).get("repairs")
    paths = list(repairs) if isinstance(repairs, Mapping) else []
    return {"changes": [{"path": path, "summary": "repaired by the check itself"} for path in paths]}


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """What changed, from git; what it is for, from whoever did it."""
    by = state.review.submission.by if state.review.submission else "harness"
    return {"by": "model" if by == "model" else "fixer", "changes": changes(draft, facts)}


def changes(draft: Json, facts: Json) -> list[dict[str, object]]:
    """The changed product files with the words of the draft."""
    told = {str(item.get("path")): str(item.get("summary", "")) for item in items(draft.get("changes"))}
    guards = facts.get("test_files")
    return [
        {
            "path": str(item.get("path")),
            "summary": told.get(str(item.get("path")), ""),
            "lines_added": item.get("added", 0),
            "lines_removed": item.get("removed", 0),
        }
        for item in items(facts.get("changes"))
        if not (isinstance(guards, (list, tuple)) and item.get("path") in guards)
    ]


STAGE = Stage(
    name="change",
    produces="violation_fix",
    consumes=("analyze", "guard"),
    purpose="repair the violations",
    criteria=(
        "the checks no longer find the violations, and nothing new",
        "behaviour stays: every test passes",
        "only the listed files change, nothing is suppressed",
    ),
    tools=(
        "edit",
        "write_file",
        "read_file",
        "grep",
        "find_symbol",
        "refactor",
        "run_checks",
        "run_tests",
        "ask_human",
        "submit_artifact",
    ),
    writes="product",
    scope=fix_scope,
    omit=("by", "changes.lines_added", "changes.lines_removed"),
    needs_model=needs_model,
    draft=draft,
    complete=complete,
)
