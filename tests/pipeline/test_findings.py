"""What a stage is told about its last attempt: causes, not the fields that the harness fills in itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from agentforge.events.kinds import ToolFinished
from agentforge.events.state.attempt import FinishedStep, Turn
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.step_context import situation
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import failed, inside


def shown(state: RunState, diff: str = "") -> dict[str, str]:
    pieces = situation(state, load_stages()[state.progress.stage], worktree=Path("/none"), diff=diff)
    return {piece.name: piece.text for piece in pieces if piece.text}


def finding(rule: str, path: str = "") -> dict[str, Any]:
    return {"rule": rule, "passed": False, "message": f"{rule} does not hold", "path": path}


def test_fields_that_the_harness_writes_are_no_findings_beside_their_causes() -> None:
    findings = (finding("schema", "verification.all_tests_pass"), finding("suite-passes"))
    text = shown(inside("green", findings=findings))["findings to repair (measured)"]
    assert text == "- [suite-passes] suite-passes does not hold"


def test_a_finding_that_stands_alone_is_told_whatever_it_is_about() -> None:
    findings = (finding("schema", "verification.all_tests_pass"),)
    assert "verification.all_tests_pass" in shown(inside("green", findings=findings))["findings to repair (measured)"]


def test_failing_tests_come_with_their_tracebacks() -> None:
    facts = {"green": {"failing_text": "FAILED t.py::a\n  NameError: x"}}
    assert shown(failed("green", rule="suite-passes", facts=facts))["failing tests (measured)"].endswith("NameError: x")
    assert "failing tests (measured)" not in shown(failed("green", rule="conformance", facts=facts))


def test_what_a_write_did_is_told_by_the_diff_and_what_it_broke_by_its_result() -> None:
    fine = ToolFinished(step=1, index=0, call_id="1", name="edit", status="success", summary="edited", text="1 new")
    noted = ToolFinished(
        step=1, index=1, call_id="2", name="edit", status="success", summary="edited too", text="syntax error",
        next_actions=("correct the syntax",),
    )  # fmt: skip
    state = inside("green", turn=Turn(step=2, recent=(FinishedStep(step=1, said="", results=(fine, noted)),)))
    assert [name for name in shown(state, diff="+ new") if name.startswith("edit")] == [
        "edit (step 1): edited too - next: correct the syntax"
    ]
    assert len([name for name in shown(state) if name.startswith("edit")]) == 2


def test_symbols_that_the_harness_dropped_or_moved_stand_beside_the_findings() -> None:
    left_out = {"repair": "symbol", "path": "symbols", "message": "The symbol 'words > line 1' was left out."}
    numbered = {"repair": "number", "path": "requirements", "message": "The requirement 1 is REQ-001."}
    state = inside("spec", findings=(finding("no-regressions"),))
    known = replace(state.progress.stages["spec"], repairs=(left_out, numbered))
    again = with_fields(state, stages={**state.progress.stages, "spec": known})
    text = shown(again)["findings to repair (measured)"]
    assert left_out["message"] in text and numbered["message"] not in text
    assert shown(with_fields(again, findings=())) == {}
