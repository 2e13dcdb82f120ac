"""What a delivery states in the words of others: in-toto Statements v1 about test results and provenance. Pure.

Source: in-toto Attestation Framework v1 (statement, test-result v0.1), SLSA Provenance v1.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.fold.delivered import judged, judged_name
from agentforge.events.state.run_state import RunState

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
PROVENANCE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://agentforge.dev/pipeline/v1"

Json = Mapping[str, object]


def statements(state: RunState, *, head: str, records: int, baseline: Json, measured: Json) -> list[dict[str, object]]:
    """State what was delivered: one statement of test results, one of provenance, about the same commit.

    Args:
        state: of a run whose branch stands.
        head, records: of the trail up to the delivery.
        baseline: evidence of the base line (`passed_ids`, `outcomes`).
        measured: evidence of the delivered tree (`whole`).
    """
    trail = {
        "name": "events.jsonl",
        "digest": {"sha256": head},
        "annotations": {"records": records, "chain": "sha256(previous || canonical record)"},
    }
    return [
        _statement(state, TEST_RESULT, _test_result(state, trail, baseline, measured)),
        _statement(state, PROVENANCE, _provenance(state, trail)),
    ]


def measured_as(state: RunState) -> str:
    """Under which name the delivered tree was measured."""
    return judged_name(state.evidence)


def _statement(state: RunState, kind: str, predicate: Json) -> dict[str, object]:
    made = state.delivered or {}
    digest = {"gitCommit": made.get("commit", ""), "gitTree": made.get("tree", "")}
    return {
        "_type": STATEMENT,
        "subject": [{"name": state.branch, "digest": digest}],
        "predicateType": kind,
        "predicate": predicate,
    }


def _test_result(state: RunState, trail: Json, baseline: Json, measured: Json) -> dict[str, object]:
    """All tests of the delivered tree; what failed before the change is a warning, never hidden."""
    facts = judged(state.facts, {})
    outcomes = _outcomes(measured)
    passed = sorted(name for name, outcome in outcomes.items() if outcome == "passed")
    before = baseline.get("outcomes")
    known = before if isinstance(before, Mapping) else {}
    others = sorted(name for name, outcome in outcomes.items() if outcome != "passed")
    own = facts.get("all_tests_pass") is True or state.workflow == "fix"  # which may have no tests of its own
    held = own and facts.get("no_regressions") is True
    return {
        "result": "PASSED" if held else "FAILED",
        "configuration": [
            {"name": "base commit", "digest": {"gitCommit": state.base_commit}},
            {"name": "command", "annotations": {"command": state.facts.get("baseline", {}).get("command", "")}},
            trail,
        ],
        "passedTests": passed,
        "warnedTests": [name for name in others if known.get(name, "passed") != "passed"],
        "failedTests": [name for name in others if known.get(name, "passed") == "passed"],
    }


def _outcomes(measured: Json) -> dict[str, str]:
    whole = measured.get("whole")
    listed = whole.get("outcomes") if isinstance(whole, Mapping) else None
    rows = listed if isinstance(listed, list) else []
    return {str(row["id"]): str(row["outcome"]) for row in rows if isinstance(row, Mapping)}


def _provenance(state: RunState, trail: Json) -> dict[str, object]:
    digests = {name: value for name, value in state.digests.items() if isinstance(value, str)}
    return {
        "buildDefinition": {
            "buildType": BUILD_TYPE,
            "externalParameters": {
                "request": state.request,
                "mode": state.mode,
                "model": state.model,
                "tests": list(state.tests),
            },
            "internalParameters": {"digests": digests},
            "resolvedDependencies": [
                {"name": "base", "uri": "git+base", "digest": {"gitCommit": state.base_commit}},
            ],
        },
        "runDetails": {
            "builder": {"id": BUILD_TYPE, "version": dict(state.versions)},
            "metadata": {
                "invocationId": state.run_id,
                "startedOn": state.started_at,
                "finishedOn": state.last_at,
            },
            "byproducts": [trail],
        },
    }
