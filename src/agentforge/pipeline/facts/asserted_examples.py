"""Which examples of the request the tests assert; what the base gives already is no result that a new test has to state."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from agentforge.errors import ToolchainError
from agentforge.events.state.run_state import RunState
from agentforge.languages.symbols import symbols_of
from agentforge.pipeline.facts.examples import literals, missing_in, touched_in
from agentforge.pipeline.ledger.placement import standing_examples
from agentforge.pipeline.model.scope import product_symbols
from agentforge.pipeline.model.stage import texts
from agentforge.suite import Rig
from agentforge.verification.examples import claims, claims_javascript
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.plain_check import claim_looks
from agentforge.verification.examples.plain_javascript import node_looks
from agentforge.verification.examples.verdicts import UNDECLARED, Look

_READERS: dict[str, ModuleType] = {"python": claims, "javascript": claims_javascript}


def asserted_examples(state: RunState, rig: Rig, sources: str) -> list[dict[str, object]]:
    """Tell of each example of the request whether the tests assert it.

    An example that can be run is asserted when its values stand in the tests, all but the results that the base gives: what
    "gives 851, it should be 851000" needs is no test of 851. One that cannot be run is asserted when one of its texts stands
    there: which of them are results, nothing measures.

    Args:
        rig: runs the examples of which a value is missing, at the base.
        sources: what `stated_in` gives of the test files.
    Returns:
        {text, found} of each; those that a human left out count as found.
    """
    examples, standing = texts(state.work.artifacts.get("intake", {}).get("examples")), standing_examples(state)
    open_ones = [text for text in examples if text in standing and missing_in(text, sources)]
    reader = _READERS.get(rig.plan.language)
    read = {text: reader.claims_in(text) if reader is not None else () for text in open_ones}
    looks = _at_base(state, rig, [claim for found in read.values() for claim in found])
    lacking = {text for text in open_ones if not _is_asserted(text, [looks[one] for one in read[text]], sources)}
    return [{"text": text, "found": text not in lacking} for text in examples]


def _is_asserted(example: str, looks: Sequence[Look], sources: str) -> bool:
    ran = [one for one in looks if one.unchecked != UNDECLARED]
    if not ran:
        return touched_in(example, sources)
    today = {value for one in ran for value in (*literals(one.got), one.got)}
    return set(missing_in(example, sources)) <= today


def _at_base(state: RunState, rig: Rig, wanted: Sequence[Claim]) -> dict[Claim, Look]:
    """What comes of claims at the base; all of them unchecked where they cannot be run."""
    nothing = {claim: Look(claim=claim, unchecked=UNDECLARED) for claim in wanted}
    if not wanted:
        return nothing
    base = state.work.trees["baseline"]
    symbols = symbols_of(product_symbols(state.work.artifacts.get("spec", {})))
    measure = claim_looks if rig.plan.language == "python" else node_looks
    try:
        looks = measure(rig, base, list(dict.fromkeys(wanted)), symbols=symbols, base_tree=base)
    except ToolchainError:
        return nothing
    return {**nothing, **{one.claim: one for one in looks}}
