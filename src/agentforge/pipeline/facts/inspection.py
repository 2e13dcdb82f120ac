"""Work that is verified by inspection alone: RED has nothing to write, and GREEN measures that nothing runs otherwise."""

from __future__ import annotations

from agentforge.contracts.inspection import GUARDING, by_inspection_alone, needs_inertness
from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.ledger.entries import ledger_of
from agentforge.pipeline.ledger.placement import standing_examples
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.scope import named_files
from agentforge.pipeline.model.stage import Json, action_of, items
from agentforge.verification.inert.classification import Inertness
from agentforge.workspace.code.symbols import language_of

_LISTED = 20


def nothing_to_test(state: RunState) -> bool:
    """Whether RED needs no model: no requirement asks for a test, and the user gave neither tests nor examples.

    What only guards (a refactoring, a removal) still gets its guards where it speaks of code.
    """
    spec = state.work.artifacts.get("spec", {})
    if state.brief.tests or not profile_of(state).inspects or not by_inspection_alone(spec):
        return False
    if standing_examples(state) or (action_of(state) == "fix" and any(one.examples for one in ledger_of(state))):
        return False
    return action_of(state) not in GUARDING or not any(language_of(path) for path in named_files(spec))


def must_be_inert(state: RunState) -> bool:
    """Whether nothing but the measured inertness of the change can show that it needed no test."""
    kinds = [str(row.get("kind") or "target") for row in items(state.work.facts.get("red", {}).get("tests"))]
    spec = state.work.artifacts.get("spec", {})
    return profile_of(state).inspects and needs_inertness(spec, kinds=kinds, action=action_of(state))


def inert_facts(found: Inertness) -> dict[str, object]:
    """What it means that every requirement is verified by inspection: nothing that runs may be changed.

    Returns:
        {inert: {passed, kinds, words, files, changes: [text]}}, with belongs_to rows for SPEC where it does not pass.
    """
    told = [one.text for one in found.differences]
    fact = {
        "passed": not told,
        "kinds": list(found.kinds),
        "words": found.words,
        "files": len(found.files) + len(found.differences),
        "changes": told[:_LISTED],
    }
    rows = [
        {
            "stage": "spec",
            "rule": "inspection-inert",
            "path": one.path,
            "message": f"{one.text}. What runs otherwise is verified by tests: give the requirement the "
            "verification_method test with criteria that a test can assert, or say that this file stays as it is",
        }
        for one in found.differences[:_LISTED]
    ]
    return {"inert": fact, **({"belongs_to": rows} if rows else {})}


def inert_words(state: RunState) -> str:
    """`documentation only: nothing that runs was changed (measured)`; "" where that was not measured or does not hold."""
    fact = judged(state.work.facts, {}).get("inert")
    if not isinstance(fact, dict) or fact.get("passed") is not True:
        return ""
    return f"{fact.get('words')}: nothing that runs was changed (measured)"


def unneeded(note: str) -> dict[str, object]:
    """The facts about the strength of tests where there is nothing for tests to run."""
    told: Json = {"measured": False, "needed": False, "note": note}
    return {"coverage": dict(told), "mutation": dict(told)}
