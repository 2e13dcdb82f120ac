"""The attestation of a delivery: whether it says what the trail says, is about this commit, and who signed it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from agentforge.canonical import canonical_bytes
from agentforge.errors import AgentForgeError, IntegrityError
from agentforge.events.state.run_state import RunState
from agentforge.proof.envelope import Envelope, read_envelopes
from agentforge.proof.public_keys import PublicKey, signature_problem
from agentforge.proof.report import Check, told
from agentforge.proof.statement import PROVENANCE, TEST_RESULT, measured_as, statements


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
    digest = state.evidence.get(name)
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
