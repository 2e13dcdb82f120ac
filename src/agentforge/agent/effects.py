"""What the agent loop can want done."""

from __future__ import annotations

from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Base of everything that `decide` may return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel(Effect):
    """Ask the model for step `step`; the same number again when a crash left its request without an answer."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTool(Effect):
    """Carry out call `index` of the current reply.

    Attributes:
        in_doubt: the call was begun by a process that died; how it is settled depends on the tool's effect.
        refusal: not empty: a human refused the step; the call is answered with these words and not carried out.
    """

    index: int
    in_doubt: bool
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishStep(Effect):
    """All calls of the reply are done: take the snapshot and close the step."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Effect):
    """The loop cannot go on by itself: `kind` as in EscalationRaised."""

    kind: str
    reason: str
    question: str
