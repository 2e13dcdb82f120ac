"""What a hook says by its exit code and its output. Pure.

Exit 0 lets pass, 2 blocks with what stands on stderr as the reason; everything else is a failure of the hook. On exit 0 a
JSON object on stdout can say more.

Source: hook reference of Claude Code (hookSpecificOutput, decision, continue).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from agentforge.frozen import dataclass
from agentforge.safety.text.hygiene import clean

if TYPE_CHECKING:
    from agentforge.workspace.processes.process import Completed

Verdict = Literal["pass", "allow", "ask", "deny", "failed"]

_BLOCKS = 2
_LONGEST_REASON = 2000
_LONGEST_CONTEXT = 10_000
_DECISIONS: Mapping[str, Verdict] = {
    "allow": "allow",
    "approve": "allow",
    "ask": "ask",
    "deny": "deny",
    "block": "deny",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAnswer:
    """What one hook said.

    Attributes:
        updated: the arguments that it wants instead; None = as they are.
        context: words that it adds for the model.
    """

    verdict: Verdict
    reason: str = ""
    updated: Mapping[str, object] | None = None
    context: str = ""


def read_answer(done: Completed, *, timeout_s: float, talks: bool) -> HookAnswer:
    """Read how a hook ended.

    Args:
        talks: plain text on stdout is meant for the model (before_agent).
    """
    if done.timed_out:
        return HookAnswer(verdict="failed", reason=f"it did not end within {timeout_s:g} s")
    told = _said(done.stderr) or _said(done.output)
    if done.exit_code == _BLOCKS:
        return HookAnswer(verdict="deny", reason=told or "it gave no reason")
    if done.exit_code in (126, 127):
        return HookAnswer(verdict="failed", reason=f"it cannot be run: {told}")
    if done.exit_code:
        return HookAnswer(verdict="failed", reason=f"it ended with {done.exit_code}" + (f": {told}" if told else ""))
    text = done.output.decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        return HookAnswer(verdict="pass", context=clean(text)[:_LONGEST_CONTEXT] if talks else "")
    if done.omitted_bytes:
        return HookAnswer(
            verdict="failed", reason=f"its answer is too long: {done.omitted_bytes:,} bytes of it were cut"
        )
    return _read_json(text)


def _said(data: bytes) -> str:
    return clean(data.decode("utf-8", "replace")).strip()[:_LONGEST_REASON]


def _read_json(text: str) -> HookAnswer:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        return HookAnswer(verdict="failed", reason=f"its answer is not JSON: {exc}")
    assert isinstance(value, dict)  # the text begins with a brace
    special = value.get("hookSpecificOutput", {})
    if not isinstance(special, dict):
        return HookAnswer(verdict="failed", reason="its hookSpecificOutput is not an object")
    if value.get("continue") is False:
        return HookAnswer(verdict="deny", reason=_words(value.get("stopReason")) or "it ends the run")
    decision = special.get("permissionDecision", value.get("decision"))
    if decision is not None and (not isinstance(decision, str) or decision not in _DECISIONS):
        return HookAnswer(verdict="failed", reason=f"its decision {decision!r} is none of allow, ask, deny"[:200])
    updated = special.get("updatedInput")
    if updated is not None and not isinstance(updated, dict):
        return HookAnswer(verdict="failed", reason="its updatedInput is not an object")
    return HookAnswer(
        verdict=_DECISIONS[decision] if isinstance(decision, str) else "pass",
        reason=_words(special.get("permissionDecisionReason", value.get("reason"))),
        updated=updated,
        context=_words(special.get("additionalContext"), limit=_LONGEST_CONTEXT),
    )


def _words(value: object, limit: int = _LONGEST_REASON) -> str:
    return clean(value).strip()[:limit] if isinstance(value, str) else ""
