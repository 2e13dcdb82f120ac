"""GREEN: the implementation, judged on the tree to be committed."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.agent import Effect
from agentforge.canonical import digest_value
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.examination.examiner import is_examined
from agentforge.pipeline.ledger.promises import doubtful, undecided_examples
from agentforge.pipeline.model.effects import MeasureImpact
from agentforge.pipeline.model.revisits import reopening
from agentforge.pipeline.model.stage import Json, Stage, items


def needs_model(state: RunState) -> bool:
    """Not when only tests were added since it was verified: the same tree is measured again, with them."""
    unchanged = state.review.reopened is not None and bool(state.review.reopened.draft)
    return not unchanged or bool(state.review.findings)


def _doubtful(state: RunState) -> Effect | None:
    """Ask a human about the examples that nothing decides, where nobody reads the request before the delivery."""
    rows = undecided_examples(state)
    if not rows:
        return None
    return None if is_examined(state) else doubtful(state, rows, stage="green")


def draft(state: RunState) -> dict[str, object]:
    """What was submitted for the tree that is measured again."""
    return dict(state.review.reopened.draft) if state.review.reopened is not None else {}


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """What changed comes from git, what it is for from the model, whether it works from the measurement."""
    told = {
        str(item.get("path")): str(item.get("changes_summary") or item.get("purpose") or "")
        for key in ("files_modified", "files_created")
        for item in items(draft.get(key))
    }
    created, modified = [], []
    for change in items(facts.get("changes")):
        path = str(change.get("path"))
        if path in facts.get("test_files", ()):  # type: ignore[operator] # a list of paths, written by the verifier
            continue
        if change.get("status") == "added":
            created.append({"path": path, "purpose": told.get(path, ""), "lines": change.get("added", 0)})
        else:
            modified.append(
                {
                    "path": path,
                    "changes_summary": told.get(path, "") or str(change.get("status", "")),
                    "lines_added": change.get("added", 0),
                    "lines_removed": change.get("removed", 0),
                }
            )
    body = {"files_created": created, "files_modified": modified}
    return {
        "implementation_id": f"impl-{digest_value([body, facts.get('tree', '')])[:12]}",
        "spec_ref": state.work.artifacts.get("spec", {}).get("spec_id", ""),
        "test_suite_ref": state.work.artifacts.get("red", {}).get("suite_id", ""),
        **body,
        "verification": verification(facts),
        **mutation(facts),
    }


def verification(facts: Json) -> dict[str, object]:
    """The three verdicts of the contract, measured; a missing fact is False."""
    conformance = facts.get("conformance")
    passing = isinstance(conformance, dict) and conformance.get("passed") is True
    return {
        "all_tests_pass": facts.get("all_tests_pass") is True,
        "conformance_passing": passing,
        "no_regressions": facts.get("no_regressions") is True,
    }


def mutation(facts: Json) -> dict[str, object]:
    """The mutation score with what survived, where mutants were run."""
    told = facts.get("mutation")
    if not isinstance(told, dict) or told.get("measured") is not True:
        return {}
    survivors = [
        f"{row.get('path')}:{row.get('line')}: {row.get('before')} -> {row.get('after')}"
        for row in items(told.get("survivors"))
    ]
    return {"mutation": {**{key: told.get(key) for key in ("score", "killed", "run", "seed")}, "survivors": survivors}}


def _impact_first(state: RunState, _order: Sequence[str]) -> Effect | None:
    """Measure once which tests the change may break."""
    return MeasureImpact() if "impact" not in state.work.facts and "red" in state.work.facts else None


STAGE = Stage(
    name="green",
    produces="implementation",
    consumes=("spec", "red"),
    purpose="the smallest implementation that satisfies specification and tests",
    criteria=(
        "all tests of the suite pass in a fresh checkout, no other test breaks",
        "only files of the specification change; frozen tests stay",
        "no new findings of the checks",
    ),
    tools=(
        "edit",
        "write_file",
        "move_file",
        "read_file",
        "grep",
        "run_tests",
        "run_checks",
        "shell",
        "ask_human",
        "submit_artifact",
    ),
    writes="product",
    omit=(
        *("implementation_id", "spec_ref", "test_suite_ref", "verification", "mutation"),
        *("files_created.lines", "files_modified.lines_added", "files_modified.lines_removed"),
    ),
    needs_model=needs_model,
    draft=draft,
    complete=complete,
    contests="red",
    begins_with=(_impact_first,),
    on_passed=lambda state: reopening(state) or _doubtful(state),
)
