"""The attestation of a delivery: whether it says what the trail says, is about this commit, and who signed it.

What a delivery states in the words of others: in-toto Statements v1 about test results and provenance. Pure.

Source: in-toto Attestation Framework v1 (statement, test-result v0.1), SLSA Provenance v1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from agentforge.canonical import canonical_bytes
from agentforge.errors import AgentForgeError, IntegrityError
from agentforge.events.fold.delivered import judged, judged_name
from agentforge.events.state.run_state import RunState
from agentforge.proof.envelope import Envelope, read_envelopes
from agentforge.proof.public_keys import PublicKey, signature_problem
from agentforge.proof.report import Check, told


def stated_check(envelopes: bytes, state: RunState, *, head: str, records: int, read: Callable[[str], bytes]) -> Check:
    """Whether the recorded statements are those that follow from the trail.

    Args:
        state, head, records: when the statements were made.
        read: a blob by its digest.
    """
    try:
        baseline, measured = (evidence_of(state, name, read=read) for name in ("baseline", measured_as(state)))
        wanted = statements(state, head=head, records=records, baseline=baseline, measured=measured)
        given = [envelope.payload for envelope in read_envelopes(envelopes)]
    except AgentForgeError as exc:
        return Check(name="attestation", ok=False, detail=exc.message)
    if given != [canonical_bytes(item) for item in wanted]:
        return Check(name="attestation", ok=False, detail="the statements do not say what the trail says")
    return Check(name="attestation", ok=True, detail="test results and provenance, as the trail has them")


def evidence_of(state: RunState, name: str, *, read: Callable[[str], bytes]) -> Mapping[str, object]:
    """The details behind recorded facts; empty when there are none."""
    digest = state.work.evidence.get(name)
    value = json.loads(read(digest)) if digest else {}
    return value if isinstance(value, dict) else {}


def about_check(envelopes: Sequence[Envelope], *, commit: str, tree: str, base: str, head: str, records: int) -> Check:
    """Whether statements are about this commit, and say that its tests passed; for a branch whose trail is elsewhere."""
    problems = []
    kinds = set()
    for envelope in envelopes:
        statement = envelope.statement
        kinds.add(statement.get("predicateType"))
        subject = statement.get("subject")
        rows = subject if isinstance(subject, list) else []
        if [row.get("digest") for row in rows] != [{"gitCommit": commit, "gitTree": tree}]:
            problems.append(f"{statement.get('predicateType')} is about another commit")
        text = envelope.payload.decode("utf-8", "replace")
        if head not in text or base not in text:
            problems.append(f"{statement.get('predicateType')} names another trail or base")
        predicate = statement.get("predicate")
        if statement.get("predicateType") == TEST_RESULT and isinstance(predicate, dict):
            problems += _results(predicate)
    problems += [f"there is no statement of type {kind}" for kind in (TEST_RESULT, PROVENANCE) if kind not in kinds]
    return told("attestation", problems, held=f"tests passed and provenance, about this commit, at record {records}")


def signature_check(envelopes: Sequence[Envelope], *, keys: tuple[PublicKey, ...], required: bool) -> Check:
    """Who signed.

    Args:
        required: only a signature by one of `keys` will do.
    """
    try:
        found = [signature_problem(envelope, keys) for envelope in envelopes]
    except IntegrityError as exc:
        return Check(name="signature", ok=False, detail=exc.message)
    except AgentForgeError as exc:
        return Check(name="signature", ok=False, detail=str(exc), altered=False)
    signers = {f"{key.name} ({key.key_id})" for _, key in found if key is not None}
    if found and len(signers) == 1 and all(key is not None for _, key in found):
        return Check(name="signature", ok=True, detail=f"signed by {signers.pop()}")
    problem = next((problem for problem, _ in found if problem), "unsigned")
    return Check(name="signature", ok=not required, detail=problem, altered=False)


def _results(predicate: Mapping[str, object]) -> list[str]:
    if predicate.get("result") != "PASSED":
        return [f"its test result is {predicate.get('result')}"]
    failed = predicate.get("failedTests")
    return [f"it names {len(failed)} failed tests"] if isinstance(failed, list) and failed else []


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
    return judged_name(state.work.evidence)


def _statement(state: RunState, kind: str, predicate: Json) -> dict[str, object]:
    made = state.work.delivered or {}
    digest = {"gitCommit": made.get("commit", ""), "gitTree": made.get("tree", "")}
    return {
        "_type": STATEMENT,
        "subject": [{"name": state.identity.branch, "digest": digest}],
        "predicateType": kind,
        "predicate": predicate,
    }


def _test_result(state: RunState, trail: Json, baseline: Json, measured: Json) -> dict[str, object]:
    """All tests of the delivered tree; what failed before the change is a warning, never hidden."""
    facts = judged(state.work.facts, {})
    outcomes = _outcomes(measured)
    passed = sorted(name for name, outcome in outcomes.items() if outcome == "passed")
    before = baseline.get("outcomes")
    known = before if isinstance(before, Mapping) else {}
    others = sorted(name for name, outcome in outcomes.items() if outcome != "passed")
    own = facts.get("all_tests_pass") is True or state.brief.workflow == "fix"  # which may have no tests of its own
    held = own and facts.get("no_regressions") is True
    return {
        "result": "PASSED" if held else "FAILED",
        "configuration": [
            {"name": "base commit", "digest": {"gitCommit": state.identity.base_commit}},
            {"name": "command", "annotations": {"command": state.work.facts.get("baseline", {}).get("command", "")}},
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
    digests = {name: value for name, value in state.identity.digests.items() if isinstance(value, str)}
    return {
        "buildDefinition": {
            "buildType": BUILD_TYPE,
            "externalParameters": {
                "request": state.brief.request,
                "mode": state.brief.mode,
                "model": state.brief.model,
                "tests": list(state.brief.tests),
            },
            "internalParameters": {"digests": digests},
            "resolvedDependencies": [
                {"name": "base", "uri": "git+base", "digest": {"gitCommit": state.identity.base_commit}}
            ],
        },
        "runDetails": {
            "builder": {"id": BUILD_TYPE, "version": dict(state.identity.versions)},
            "metadata": {
                "invocationId": state.identity.run_id,
                "startedOn": state.progress.started_at,
                "finishedOn": state.progress.last_at,
            },
            "byproducts": [trail],
        },
    }
