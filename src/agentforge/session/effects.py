"""What a conversation can want done beside the effects of the agent loop."""

from __future__ import annotations

from agentforge.agent import Effect
from agentforge.events.kinds.conversation import TurnOutcome
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTurn(Effect):
    """The turn is over."""

    outcome: TurnOutcome
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact(Effect):
    """Replace the oldest entries of the history by a summary."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTogether(Effect):
    """Carry out several calls of the reply at the same time: subagents.

    Attributes:
        indices: positions in the reply, one after the other.
    """

    indices: tuple[int, ...]
