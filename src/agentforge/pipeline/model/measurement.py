"""What one measurement leaves: facts for the rules, evidence for the audit, and the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Facts for the rules (compact), evidence for the audit (detailed), and the tree they hold for.

    Attributes:
        work: the tree of the workspace where it is another one.
        draft, repairs: see events.kinds.FactsGathered.
    """

    facts: dict[str, object]
    evidence: dict[str, object] = field(default_factory=dict)
    tree: str = ""
    work: str = ""
    draft: Mapping[str, object] | None = None
    repairs: tuple[Mapping[str, object], ...] = ()
