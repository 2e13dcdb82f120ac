"""The literal examples of the asks as held-out checks: whatever the artifacts of a model say, they hold on the delivered tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.ledger.placing import left_out, placed
from agentforge.pipeline.ledger.promises import STAYS, answered
from agentforge.pipeline.ledger.reading import Tense, examples_of
from agentforge.verification.examples.claims import spelling

if TYPE_CHECKING:
    from types import ModuleType

    from agentforge.verification.examples.claims import Claim


def claims_of_asks(state: RunState, reader: ModuleType) -> tuple[Claim, ...]:
    """What the request itself says that calls give; not what it reports of today, and nothing of which a human spoke otherwise.

    A result that its words ask for is firm: that the base gives another one excuses nothing. One that it only states may turn out
    to be a report of today.

    Args:
        reader: `runners.claims` or `runners.claims_javascript`.
    """
    gone, spoken = left_out(state), _spoken(state)
    found: list[tuple[Claim, Tense]] = []
    for entry, becomes in placed(state):
        requirement = next(iter(becomes.requirements), "")
        for claim, tense in examples_of(state.request, entry.start, entry.end, reader):
            if tense != "observed" and entry.number not in gone and _squeezed(claim.call) not in spoken:
                found.append((replace(claim, requirement=requirement, asked=True), tense))
    wanted = {spelling(claim.call) for claim, tense in found if tense == "wanted"}
    return tuple(
        replace(claim, firm=tense == "wanted" or answered(state, claim.call) == STAYS)
        for claim, tense in found
        if tense == "wanted" or spelling(claim.call) not in wanted
    )


def _spoken(state: RunState) -> str:
    """The words of humans on questions of other kinds than whether an example stays."""
    told = [item.resolution.text for item in state.escalations.values() if item.resolution and item.kind != "approval"]
    return _squeezed("\n".join(told))


def _squeezed(text: str) -> str:
    return "".join(text.split()).replace('"', "'")
