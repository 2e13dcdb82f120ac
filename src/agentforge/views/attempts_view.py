"""Independent attempts of a run as people read them: each with what was measured, and which one goes on. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.state.run_state import RunState


def attempts_value(state: RunState) -> dict[str, object]:
    """{stage, rows: [{number, child, passed, chosen, reason, score, lines, used}], reason}; {} when there are none."""
    if not state.attempts:
        return {}
    chosen = state.attempts.get("chosen")
    number = chosen.get("number") if isinstance(chosen, Mapping) else None
    reason = chosen.get("reason") if isinstance(chosen, Mapping) else ""
    rows = [{**row, "chosen": row.get("number") == number} for row in _rows(state.attempts.get("rows"))]
    return {"stage": state.attempts.get("stage"), "rows": rows, "reason": reason}


def attempt_lines(state: RunState) -> list[str]:
    """One line for each attempt, the chosen one with why."""
    value = attempts_value(state)
    lines = []
    for row in _rows(value.get("rows")):
        score = row.get("score")
        shown = f"mutation score {score:.2f}, " if isinstance(score, (int, float)) else ""
        told = (
            f"passes all rules, {shown}{row.get('lines')} changed lines"
            if row.get("passed")
            else f"{row.get('reason')}"
        )
        mark = f"; chosen: {value.get('reason')}" if row.get("chosen") else ""
        lines.append(f"attempt {row.get('number')} ({row.get('child')}): {told}{mark}")
    return lines


def _rows(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, (list, tuple)) else []
