"""What all examples have in common by chance, and a sample may lean on: numbers in ascending order, a count that is never zero.

`right(3, 4, 5) -> True` says nothing of `right(5, 4, 3)`; `values[-k:]` gives everything where k is 0. Samples of one model lean
on the same habit and agree, so a person is asked about one call that breaks it, when the answer changes there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.checks.input_neighbours import probes
from agentforge.pipeline.small_models.checks.output_agreement import Split, answers_near, calls_of
from agentforge.pipeline.small_models.generation.units import Unit, claims_by_unit
from agentforge.pipeline.small_models.refactoring.splices import find_definition

_ORDERED = re.compile(
    r"(?i)\b(?:sorted|ascending|descending|increasing|decreasing|in order|order of|ordered|indexe?s?|positions?|first|last)\b"
)
_LEAST_NUMBERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A call that breaks a habit of the examples.

    Attributes:
        beside: the example that it was made of; "" the answer is asked about whatever the example gives.
        told: the habit, in words.
    """

    call: str
    beside: str
    told: str


def leaned_on(state: RunState, runtime: Runtime, unit: Unit, text: str) -> Split | None:
    """The first call that breaks a habit of all examples and gives another answer, as a question; None there is none.

    Args:
        text: the unit's file with the chosen sample.
    """
    node = find_definition(ast.parse(text), unit.name)
    if (
        state.brief.tests
        or node is None
        or any(item.question.startswith("Every example") for item in state.people.escalations.values())
    ):
        return None
    own = calls_of(state, runtime, unit)
    apart = _out_of_order(state, runtime, unit, text)
    if apart is not None:
        return apart
    found = broken_habits(own, node, request=state.brief.request)
    if not found:
        return None
    calls = [call for one in found for call in (one.call, one.beside or one.call)]
    answers = answers_near(state, runtime, unit, text, calls)
    for number, one in enumerate(found):
        given, before = answers[2 * number : 2 * number + 2]
        if one.beside and given == before:
            continue
        beside = f", where {one.beside} gives {before}" if one.beside else ""
        question = f"Every example of {unit.name} {one.told}. {one.call} would give {given}{beside}. What is right?"
        return Split(
            call=one.call, question=question, options=tuple(dict.fromkeys((given, before))) if one.beside else (given,)
        )
    return None


def _out_of_order(state: RunState, runtime: Runtime, unit: Unit, text: str) -> Split | None:
    """A call near the examples whose result does not ascend, where those of all examples do."""
    if not ordered([claim.returns for claim in claims_by_unit(state)[unit.name] if claim.returns]):
        return None
    near = probes(calls_of(state, runtime, unit))
    for call, given in zip(near, answers_near(state, runtime, unit, text, near), strict=True):
        if disordered(given):
            told = f"Every example of {unit.name} gives its numbers in ascending order"
            return Split(call=call, question=f"{told}. {call} would give {given}. What is right?", options=(given,))
    return None


def ordered(results: Sequence[str]) -> bool:
    """Whether all results are tuples of numbers that ascend, one of them by more than nothing."""
    values = [_numbers(one) for one in results]
    return (
        bool(values)
        and all(one == sorted(one) and len(one) > 1 for one in values)
        and any(one[0] < one[-1] for one in values)
    )


def disordered(result: str) -> bool:
    """Whether a result is a tuple of numbers that do not ascend."""
    values = _numbers(result)
    return values != sorted(values)


def _numbers(source: str) -> list[float]:
    """The numbers of a tuple; [] when it is none, or holds other things."""
    try:
        value = ast.literal_eval(source)
    except (ValueError, TypeError, SyntaxError):
        return []
    plain = isinstance(value, tuple) and all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in value
    )
    return list(value) if plain else []


def broken_habits(calls: Sequence[str], node: ast.stmt, *, request: str) -> list[Broken]:
    """Calls that break what all the given ones have in common, as far as a definition can lean on it."""
    found = [tree for call in calls if (tree := _parsed(call)) is not None]
    return [*_never_zero(found, node), *_ascending(found, request)] if found else []


def _never_zero(calls: Sequence[ast.Call], node: ast.stmt) -> Iterator[Broken]:
    """A slice from the end by a parameter that no example has as zero."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    names = [one.arg for one in [*node.args.posonlyargs, *node.args.args]]
    for name in dict.fromkeys(_from_the_end(node)):
        place = names.index(name) if name in names else -1
        told = [ast.unparse(call.args[place]) for call in calls if 0 <= place < len(call.args)]
        if told and "0" not in told:
            yield Broken(call=_with(calls[0], {place: ast.Constant(0)}), beside="", told=f"has a {name} that is not 0")


def _from_the_end(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        match one:
            case ast.Slice(lower=ast.UnaryOp(op=ast.USub(), operand=ast.Name(id=name)), upper=None):
                yield name
            case ast.Slice(lower=None, upper=ast.UnaryOp(op=ast.USub(), operand=ast.Name(id=name))):
                yield name


def _ascending(calls: Sequence[ast.Call], request: str) -> Iterator[Broken]:
    """Three numbers or more that always ascend, as arguments or within the only list."""
    if _ORDERED.search(request):
        return
    rows = [[_number(one) for one in call.args] for call in calls]
    if all(_ascends(row) for row in rows):
        yield Broken(
            call=_with(calls[0], dict(enumerate(calls[0].args[::-1]))),
            beside=ast.unparse(calls[0]),
            told="has its numbers in ascending order",
        )


def _ascends(row: Sequence[float | None]) -> bool:
    numbers = [one for one in row if one is not None]
    return len(numbers) == len(row) >= _LEAST_NUMBERS and numbers == sorted(numbers) and numbers[0] < numbers[-1]


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _parsed(call: str) -> ast.Call | None:
    try:
        node = ast.parse(call, mode="eval").body
    except SyntaxError:
        return None
    return node if isinstance(node, ast.Call) and not node.keywords else None


def _with(call: ast.Call, changed: dict[int, ast.expr]) -> str:
    """The call with some of its arguments replaced."""
    arguments = [changed.get(number, one) for number, one in enumerate(call.args)]
    return ast.unparse(ast.Call(func=call.func, args=arguments, keywords=[]))
