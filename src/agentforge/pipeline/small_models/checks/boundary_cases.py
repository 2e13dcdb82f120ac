"""What a rewritten definition gives at the edges, beside what it gives today: nothing, zero, all below zero.

The fix of `sum of the best run` that answers -4 where the program answered 0 may be right or wrong: no example says it. Samples
agree on such a thing because they were made by the same model; the program of today was not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.checks.output_agreement import Split, answers_near, calls_of
from agentforge.pipeline.small_models.generation.callees import text_before
from agentforge.pipeline.small_models.generation.units import Unit

_MOST_EDGES = 8
_MOST_ASKED = 2
_RAISES = "raises "
_TRUTH = frozenset({"True", "False"})
_NONE = object()
_NO_VALUE = ("", "done", "ended early", "timed out", "never ran")


def moved_edge(state: RunState, runtime: Runtime, unit: Unit, text: str) -> Split | None:
    """The first edge at which a definition that exists answers otherwise than today, as a question; None there is none.

    Args:
        text: the unit's file with the chosen sample.
    """
    if unit.change != "changed" or state.brief.tests:
        return None
    asked = {str(item.context.get("about")) for item in state.people.escalations.values()}
    origin = edges(
        [call for call in calls_of(state, runtime, unit) if call not in asked]
    )  # an answer is an example now
    near = [call for call in origin if call not in asked]
    if not near or len(origin) - len(near) >= _MOST_ASKED:
        return None
    calls = list(dict.fromkeys([*near, *filter(None, origin.values())]))
    today = answers_near(state, runtime, unit, text_before(state, runtime, unit), calls)
    then = answers_near(state, runtime, unit, text, calls)
    moves = dict(zip(calls, zip(today, then, strict=True), strict=True))
    for call in near:
        old, new = moves[call]
        if (
            old != new
            and old not in _NO_VALUE
            and not old.startswith(_RAISES)
            and not _as_its_origin(call, moves, origin)
        ):
            question = (
                f"{call} gives {old} today and would {_would(new)}; no example of {unit.name} tells. What is right?"
            )
            return Split(call=call, question=question, options=(old, new))
    return None


def _as_its_origin(call: str, moves: Mapping[str, tuple[str, str]], origin: Mapping[str, str]) -> bool:
    """Whether the edge of one argument moves just as the example does that it was made of: the example tells, after all.

    Truth values meet by chance, and prove nothing.
    """
    known = moves.get(origin[call])
    return known == moves[call] and not set(moves[call]) <= _TRUTH


def edges(calls: Sequence[str], *, most: int = _MOST_EDGES) -> dict[str, str]:
    """The given calls with one literal argument at its edge: nothing in it, zero, or all numbers below zero where some are.

    Returns:
        Each with the call that it was made of; "" where that has no second literal argument.
    """
    out: dict[str, str] = {}
    for call in calls:
        try:
            tree = ast.parse(call, mode="eval")
        except SyntaxError:
            continue
        places = list(_literals(tree))
        for edge in _at_edges(tree, places):
            out.setdefault(edge, call if len(places) > 1 else "")
    return dict([(edge, call) for edge, call in out.items() if edge not in calls][:most])


def _literals(tree: ast.Expression) -> Iterator[tuple[ast.Call, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for position, argument in enumerate(node.args):
                if _value(argument) is not _NONE:
                    yield node, position


def _value(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return _NONE


def _at_edges(tree: ast.Expression, places: Sequence[tuple[ast.Call, int]]) -> Iterator[str]:
    for node, position in places:
        argument = node.args[position]
        for edge in _edges_of(_value(argument)):
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
