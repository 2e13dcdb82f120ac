"""What came of claims: which hold, which fail, which a measurement alone cannot decide, and what the tree comes to. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.verification.examples.claims import Claim, outcome

UNDECLARED, COMPLAINT = "a name in it is not declared", "that is what the base does already"
CONDITIONAL = "it does not hold, and nothing that can be measured says whether the request means it so"
OTHERWISE = "the request gives this call another result, too, which is as new and holds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What came of one claim: what is wrong, or why it could not be checked; neither when it holds, and then perhaps a note."""

    claim: Claim
    wrong: str = ""
    unchecked: str = ""
    note: str = ""
    got: str = ""

    @property
    def row(self) -> dict[str, object]:
        """What has to be known of it to decide whether the request demands it."""
        return {
            "call": self.claim.call, "text": f"{self.claim.text}; it is {self.got} now", "example": self.claim.text,
            "got": self.got, "before": "passed" if self.unchecked == COMPLAINT else "", "beside": list(self.claim.beside),
            **({"otherwise": True} if self.unchecked == OTHERWISE else {}),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the claims came to: how many were checked, which failed (requirement, text, call), what could not be checked and why.

    Attributes:
        notes: equal values of another type, where nobody stated the type.
        complaints: claims of the request that held at the base and hold no more, unless another claim of the same call holds.
        conditional: claims that fail by themselves, and beside which other code stands in the request, or which failed before, or
            of whose call the request says something else that holds.
    """

    checked: int
    failed: tuple[tuple[str, str, str], ...]
    unchecked: tuple[str, ...]
    notes: tuple[str, ...] = ()
    complaints: tuple[Look, ...] = ()
    conditional: tuple[Look, ...] = ()

    def value(self) -> dict[str, Any]:
        """As a fact."""
        failed = [{"requirement": requirement, "text": text, "call": call} for requirement, text, call in self.failed]
        told = {"checked": self.checked, "failed": failed, "unchecked": list(self.unchecked), "notes": list(self.notes)}
        undecided = {"complaints": self.complaints, "conditional": self.conditional}
        return {**told, **{name: [one.row for one in looks] for name, looks in undecided.items() if looks}}


def rivals(claim: Claim, claims: Sequence[Claim]) -> list[Claim]:
    """The claims of the request that give the same call another result."""
    return [one for one in claims if one.asked and one.call == claim.call and outcome(one) != outcome(claim)]


def undecided(claim: Claim, *, held: bool, otherwise: bool = False) -> str:
    """Why a claim that fails refuses nothing; "" where it refuses.

    Args:
        held: whether it held at the base.
        otherwise: whether one of its rivals holds that did not hold at the base.
    """
    if not claim.asked or claim.firm:
        return ""
    if held:
        return COMPLAINT
    if otherwise:  # neither is today's: the request contradicts itself, or was misread
        return OTHERWISE
    return CONDITIONAL if claim.beside or claim.insisted else ""


def after_steps(claim: Claim) -> str:
    """The note of a claim that holds once the calls before it in the request are made."""
    return f"{claim.text} holds after the calls that stand before it in the request: {claim.steps}"


def summed(looks: Sequence[Look], *, told: Callable[[Claim], str]) -> Verdict:
    """What all of them came to; a wrong result of a claim that could not be checked does not count.

    Args:
        told: names a claim without giving away one that is held out.
    """
    checked = [one for one in looks if not one.unchecked]
    settled = {"".join(one.claim.call.split()) for one in checked if not one.wrong}
    left = [one for one in looks if "".join(one.claim.call.split()) not in settled]
    failed = [(one.claim.requirement, one.wrong, one.claim.call) for one in checked if one.wrong]
    unchecked = [f"{told(one.claim)}: {one.unchecked}" for one in looks if one.unchecked]
    return Verdict(
        checked=len(checked),
        failed=tuple(dict.fromkeys(failed)),
        unchecked=tuple(unchecked),
        notes=tuple(dict.fromkeys(one.note for one in looks if one.note)),
        complaints=tuple(one for one in left if one.unchecked == COMPLAINT),
        conditional=tuple(
            one for one in looks if one.unchecked == OTHERWISE or (one in left and one.unchecked == CONDITIONAL)
        ),
    )
