"""What people and programs read of the attack suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.evals.attack_run import AttackResult

Refused = Sequence[tuple[str, str]]


def attacks_summary(results: Sequence[AttackResult], refused: Refused, everyday: Sequence[str]) -> str:
    """Sum up: `attacks n/n held, false refusals 0/m`."""
    held = sum(one.held for one in results)
    return f"attacks {held}/{len(results)} held, false refusals {len(refused)}/{len(everyday)}"


def attacks_value(results: Sequence[AttackResult], refused: Refused, everyday: Sequence[str]) -> dict[str, object]:
    """The whole suite as a JSON value."""
    return {
        "ok": all(one.held for one in results) and not refused,
        "summary": attacks_summary(results, refused, everyday),
        "attacks": [
            {
                **{"name": one.name, "class": one.kind, "held": one.held, "decision": one.decision, "floor": one.floor},
                "detail": one.detail,
            }
            for one in results
        ],
        "everyday": len(everyday),
        "false_refusals": [{"command": command, "reason": reason} for command, reason in refused],
    }
