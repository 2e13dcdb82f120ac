"""VERIFY: the tree to be committed in a fresh checkout. No call unless something is left to repair."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.scope import fix_scope
from agentforge.pipeline.model.stage import Json, Stage
from agentforge.pipeline.workflows.fix.stages.change import changes


def needs_model(state: RunState) -> bool:
    """The whole suite or the checks found something, or a human did."""
    return bool(state.review.findings)


def draft(_state: RunState) -> dict[str, object]:
    """Nothing to add."""
    return {"changes": []}


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The measured verdicts; a missing fact is False."""
    conformance = facts.get("conformance")
    return {
        "tree": facts.get("tree", ""),
        "tests_run": facts.get("tests_run", 0),
        "changes": [{"path": item["path"], "summary": item["summary"]} for item in changes(draft, facts)],
        "verification": {
            "violations_gone": facts.get("violations_left") == [] and facts.get("not_measured") == [],
            "conformance_passing": isinstance(conformance, dict) and conformance.get("passed") is True,
            "no_regressions": facts.get("no_regressions") is True,
        },
    }


STAGE = Stage(
    name="verify",
    produces="fix_verification",
    consumes=("analyze", "guard", "change"),
    purpose="the whole suite and the checks on the tree to be committed",
    criteria=("no test regresses", "the violations are gone and nothing new is found"),
    tools=("edit", "write_file", "read_file", "grep", "run_checks", "run_tests", "ask_human", "submit_artifact"),
    writes="product",
    scope=fix_scope,
    omit=("tree", "tests_run", "verification"),
    needs_model=needs_model,
    draft=draft,
    complete=complete,
    shows_whole_change=True,
)
