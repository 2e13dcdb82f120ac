"""The commit and the report: made from measured facts and the trail, held against the contract."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.config.contract_files import contract_set
from agentforge.contracts.check import check
from agentforge.errors import ConflictError
from agentforge.events.state.attempt import Submission
from agentforge.events.state.run_state import RunState, Totals
from agentforge.pipeline.delivery.commit import commit_message, make_branch, make_commit, report, subject, verified_tree
from agentforge.pipeline.engine.judgement import judge, refuse_draft
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import ARTIFACTS, SPEC, before, inside

Make = Callable[..., Runtime]
CONTRACT = contract_set(None).get("delivery_report")
MADE = {
    "branch": "agentforge/task-1", "commit": "c" * 40, "tree": "2" * 40, "verified_tree": "2" * 40, "tree_matches": True,
    "base_commit": "b" * 40,
}  # fmt: skip
GREEN = {
    "changes": [{"path": "kit/slug.py", "status": "added", "added": 4}],
    "all_tests_pass": True, "no_regressions": True, "conformance": {"passed": True}, "tests_run": 4,
}  # fmt: skip


def titled(title: str, action: str = "create") -> RunState:
    state = before("deliver", action=action)
    return with_fields(state, artifacts={**state.work.artifacts, "spec": {**SPEC, "title": title}})


@pytest.mark.parametrize(
    ("title", "action", "line"),
    [
        ("Add slugify", "create", "feat: add slugify"),
        ("Add slugify", "modify", "feat: add slugify"),
        ("Drop py2", "delete", "refactor: drop py2"),
        ("One loop", "refactor", "refactor: one loop"),
        ("Crash on ''", "fix", "fix: crash on ''"),
        ("HTTPServer closes", "fix", "fix: HTTPServer closes"),
        ("iOS too", "create", "feat: iOS too"),
        ("two\n lines", "create", "feat: two lines"),
        ("", "create", "feat: add slugify"),
    ],
)
def test_the_subject_is_conventional(title: str, action: str, line: str) -> None:
    assert subject(titled(title, action)) == line


def test_the_subject_has_at_most_72_characters() -> None:
    line = subject(titled("word " * 40))
    assert len(line) <= 72 and line.endswith("...")


def test_the_message_says_what_was_asked_what_was_assumed_and_where_the_trail_is() -> None:
    assert commit_message(titled("Add slugify"), trail=("head", 12)) == (
        "feat: add slugify\n\nAssumptions:\n- Unicode? -> ASCII\n\n- REQ-001: it lowers\n- REQ-002: it joins\n\n"
        "AgentForge-Task: task-1\nAgentForge-Trail: head 12\n"
    )


def test_the_trailers_are_trailers_for_git() -> None:
    message = commit_message(titled("Add slugify"), trail=("head", 12))
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=message, capture_output=True, text=True, check=True
    )
    assert done.stdout == "AgentForge-Task: task-1\nAgentForge-Trail: head 12\n"


def delivering(**changes: Any) -> RunState:
    facts = {"baseline": {"tests": 2, "failing": ["t::old"]}, "green": GREEN, "refactor": GREEN}
    return inside("deliver", facts={**facts, **changes.pop("facts", {})}, **changes)


def verdict(state: RunState, made: dict[str, Any] | None = None) -> Any:
    facts = {**MADE, **(made or {}), "changed_lines": {"kit/slug.py": ["1-4"], "tests/test_slug.py": ["1-9"]}}
    submission = Submission(draft={}, by="harness", facts=facts)
    return judge(with_fields(state, submission=submission), load_stages()["deliver"], CONTRACT)


def test_the_report_holds_what_its_contract_asks() -> None:
    done = verdict(delivering())
    assert [row["message"] for row in done.results if not row["passed"]] == []
    assert done.passed


def test_the_report_traces_requirements_to_tests_and_product_lines() -> None:
    rows: Any = verdict(delivering()).artifact["requirements"]
    assert rows[0] == {
        "id": "REQ-001", "description": "it lowers", "tests": ["tests/test_slug.py::test_a"],
        "changes": [{"path": "kit/slug.py", "lines": "1-4"}],
    }  # fmt: skip


def test_a_tree_that_is_not_the_verified_one_is_no_delivery() -> None:
    done = verdict(delivering(), {"tree": "3" * 40, "tree_matches": False})
    assert not done.passed


def test_the_report_tells_what_it_cannot_tell() -> None:
    told = report(
        delivering(facts={"baseline": {"tests": 0, "flaky": ["t::x"]}}, totals=Totals(cost_known=False)), MADE, {}
    )
    assert told["cost"]["cost_usd"] is None  # type: ignore[index]
    assert [line.split(":")[0].split(",")[0] for line in told["limits"]] == [  # type: ignore[attr-defined]
        "the project had no tests at the base", "flaky at the base", "the price of the model is unknown",
    ]  # fmt: skip


def test_the_report_counts_the_whole_run() -> None:
    totals = Totals(steps=6, llm_calls=5, prompt_tokens=9, cached_tokens=3, completion_tokens=4, cost_usd=0.1234567)
    cost: Any = report(delivering(totals=totals, active_s=1.23456), MADE, {})["cost"]
    assert cost == {
        "steps": 6, "llm_calls": 5, "prompt_tokens": 9, "cached_tokens": 3, "completion_tokens": 4,
        "cost_usd": 0.123457, "duration_s": 1.235,
    }  # fmt: skip


def test_an_unmeasured_verification_is_false_in_the_report() -> None:
    told: Any = report(inside("deliver", facts={}), {}, {})["verification"]
    assert (told["all_tests_pass"], told["no_regressions"], told["conformance_passing"]) == (False, False, False)


def test_the_tree_to_deliver_is_the_one_measured_last() -> None:
    assert verified_tree(before("deliver", trees={"green": "g", "refactor": "r"})) == "r"
    assert verified_tree(before("deliver", trees={"green": "g"})) == "g"


def test_commit_and_branch_hold_the_verified_tree_and_leave_the_checkout_alone(runtime: Make, base: Path) -> None:
    made = runtime()
    head = made.git.head()
    place = made.scratch / "tree"
    made.git.add_worktree(place, head)
    (place / "kit" / "slug.py").write_text("x = 1\n")
    tree = made.git.snapshot(place, index=made.scratch / "index")
    state = before(
        "deliver",
        base_commit=head,
        trees={"green": tree},
        last_at="2026-01-02T03:04:05.000000Z",
        branch="agentforge/task-1",
    )
    facts = make_commit(state, made)
    assert (facts["tree"], facts["verified_tree"], facts["tree_matches"]) == (tree, tree, True)
    assert make_commit(state, made) == facts  # the same bytes whenever it is made again
    there = replace(made, worktree=place)
    for _ in range(2):  # a process that died in between does it again
        assert make_branch(state, there, commit=str(facts["commit"])) is False
    assert made.git.resolve("agentforge/task-1") == facts["commit"]
    assert (made.git.head(), (made.repo / "kit" / "slug.py").exists()) == (head, False)
    with pytest.raises(ConflictError):
        make_branch(state, there, commit=head)


def test_a_refused_draft_is_judged_without_measurement() -> None:
    errors = [{"rule": "schema", "passed": False, "message": "title: is missing", "path": "title"}]
    state = inside("spec", attempt=2, submission=Submission(draft={"x": 1}, by="model"))
    done = refuse_draft(state, load_stages()["spec"], contract_set(None).get("specification"), errors)
    assert (done.passed, done.attempt, done.artifact, done.results) == (False, 2, {"x": 1}, tuple(errors))


def test_a_verdict_names_the_contract_and_the_artifact_by_digest() -> None:
    contract = contract_set(None).get("clarification")
    state = inside("clarify", submission=Submission(draft={"questions": []}, by="harness", facts={}))
    done = judge(state, load_stages()["clarify"], contract)
    assert (done.passed, done.contract, done.contract_digest) == (True, "clarification", contract.digest)
    assert len(done.artifact_digest) == 64
    again = judge(state, load_stages()["clarify"], contract)
    assert again == done
    assert check(contract, done.artifact, facts={}, inputs=ARTIFACTS).passed
