"""What a rewritten definition gives at the edges, beside what it gives today: nothing, zero, all below zero.

The fix of `sum of the best run` that answers -4 where the program answered 0 may be right or wrong: no example says it. Samples
agree on such a thing because they were made by the same model; the program of today was not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from agentforge.events.state import RunState
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.small.agreeing import Split, answers_near, calls_of
from agentforge.pipeline.small.beneath import text_before
from agentforge.pipeline.small.units import Unit

_MOST_EDGES = 8
_MOST_ASKED = 2
_RAISES = "raises "
_NO_VALUE = ("", "done", "ended early", "timed out", "never ran")


def moved_edge(state: RunState, runtime: Runtime, unit: Unit, text: str) -> Split | None:
    """The first edge at which a definition that exists answers otherwise than today, as a question; None there is none.

    Args:
        text: the unit's file with the chosen sample.
    """
    if unit.change != "changed" or state.tests:
        return None
    asked = {str(item.context.get("about")) for item in state.escalations.values()}
    near = edges(calls_of(state, runtime, unit))
    calls = [call for call in near if call not in asked]
    if not calls or len(near) - len(calls) >= _MOST_ASKED:
        return None
    today = answers_near(state, runtime, unit, text_before(state, runtime, unit), calls)
    then = answers_near(state, runtime, unit, text, calls)
    for call, old, new in zip(calls, today, then, strict=True):
        if old != new and old not in _NO_VALUE and not old.startswith(_RAISES):
            question = (
                f"{call} gives {old} today and would {_would(new)}; no example of {unit.name} tells. What is right?"
            )
            return Split(call=call, question=question, options=(old, new))
    return None


def edges(calls: Sequence[str], *, most: int = _MOST_EDGES) -> list[str]:
    """The given calls with one literal argument at its edge: nothing in it, zero, or all numbers below zero where some are."""
    out: dict[str, None] = {}
    for call in calls:
        try:
            tree = ast.parse(call, mode="eval")
        except SyntaxError:
            continue
        out.update(dict.fromkeys(_at_edges(tree)))
    return [call for call in out if call not in calls][:most]


def _at_edges(tree: ast.Expression) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for position, argument in enumerate(node.args):
            try:
                value = ast.literal_eval(argument)
            except (ValueError, TypeError, SyntaxError):
                continue
            for edge in _edges_of(value):
                node.args[position] = ast.parse(repr(edge), mode="eval").body
                yield ast.unparse(tree)
            node.args[position] = argument


def _edges_of(value: object) -> Iterator[object]:
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        yield type(value)(0)
    elif isinstance(value, (str, list, tuple, dict, set)) and value:
        if isinstance(value, list) and all(isinstance(one, (int, float)) for one in value) and min(value) < 0:
            yield [-abs(one) for one in value]
        yield type(value)()


def _would(told: str) -> str:
    if told in _NO_VALUE:
        return "not come to an end"
    return told.replace("raises", "raise", 1) if told.startswith(_RAISES) else f"give {told}"
