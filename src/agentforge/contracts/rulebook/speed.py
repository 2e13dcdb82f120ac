"""Rules about speed: what is to be measured, and what the measurement came to."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.contracts.contract import Json
from agentforge.contracts.rule import RuleCase, RuleOutcome, broken, held, named, none_of, text

_TOLD = 4


def speed_specified(case: RuleCase) -> RuleOutcome:
    """Executed at the base: a request for speed has a measurement that can be made. SPEC is asked once; then it is told."""
    told = case.facts.get("performance")
    if not isinstance(told, Mapping):
        return held("nobody asks for speed")
    rows = _rows(told)
    unusable = [f"{text(row, 'statement')}: {text(row, 'reason')}" for row in rows if row.get("ok") is not True]
    if told.get("again") is True:
        return held(len(rows) - len(unusable))
    if unusable:
        return none_of(unusable, what="measurements that cannot be made", fix="correct them, or drop them")
    if told.get("asked") is True and not rows:
        fix = "add one: setup, and a statement that is slow today"
        return broken(f"the request asks for speed, and measurements is empty - {fix}", path="measurements", measured=0)
    return held(len(rows))


def faster(case: RuleCase) -> RuleOutcome:
    """Executed on base and tree in turns: what is measured became faster, as far as is asked for, and gives the same results."""
    speed = case.facts.get("speed")
    if not isinstance(speed, Mapping):
        return held("nothing is measured")
    rows = [row for row in _rows(speed) if row.get("verdict") not in ("faster", "unmeasured")]
    if not rows:
        return held(len(_rows(speed)))
    told = "; ".join(text(row, "message") for row in rows[:_TOLD])
    return broken(f"{told} - make it faster without changing what it gives", measured=len(rows))


def _rows(record: Mapping[str, object]) -> list[Json]:
    value = record.get("rows")
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


RULES = named(
    ("speed-specified", "a request for speed is measured", speed_specified, "fact"),
    ("faster", "what is measured became faster and gives the same", faster, "fact"),
)
