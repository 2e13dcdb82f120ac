"""Hard-coded answers: does the code compute, or does it know only what the tests ask?

The first line of defence are held-out checks. This is the second, for changes where none speaks of the callable. Two things must
come together: the new code holds every answer that the tests expect as a constant, and asked anything near to the tests' inputs,
or anything else that it holds as a constant, it has nothing but one fallback. So a table that knows more than the tests, and a
rule with thresholds, pass. A closed list passes where the tests ask for something unknown, or where the request lists all of it.

It cannot see answers that are hidden (encoded, computed from parts at run time), nor a choice by a feature of the tests' inputs
(length, first letter), which looks like an honest classification: held-out checks can.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from agentforge.languages.python.source import module_of
from agentforge.suite import Rig
from agentforge.verification.examples.claims import literal
from agentforge.verification.examples.plain_answers import CallResult
from agentforge.verification.examples.plain_check import Probe, evaluate
from agentforge.verification.examples.suite_claims import Asserted
from agentforge.verification.examples.typed_comparison import difference

_LEAST = 2
_LISTED = 3
_PROBES = 24
_TRIVIAL: tuple[object, ...] = (None, True, False, "", 0, 1, -1, b"", 0.0, 1.0)


def hard_coded(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], assertions: Sequence[Asserted], request: str,
    proved: Iterable[str] = (),
) -> tuple[str, ...]:  # fmt: skip
    """Names of callables whose answers are looked up and not computed, each with the reason.

    Args:
        assertions: what the suite asserts.
        request: its words; a list that stands in it is data, not a cheat.
        proved: callables of which a held-out check with another input passed.
    """
    held = _new_constants(rig, base_tree=base_tree, tree=tree, changed=changed)
    by_name: dict[str, list[Asserted]] = {}
    for one in assertions:
        by_name.setdefault(_callable(one), []).append(one)
    found = []
    for name, claims in sorted(by_name.items()):
        pairs = _pairs(claims)
        told = [expected for _, expected in pairs if not _is_trivial(expected)]
        if name in proved or len({repr(one) for one in told}) < _LEAST or not _all_held(told, held):
            continue
        if _closed(claims, pairs) or _listed(pairs, request):
            continue
        probes = _probes(claims, held)[:_PROBES]
        answers = evaluate(rig, tree, [[probe for probe, _ in probes]])
        asked = [argument for _, argument in probes]
        if _memorised(pairs, held) or (len(probes) >= _LEAST and _only_a_fallback(answers, asked)):
            found.append(
                f"{name} holds the {len(pairs)} answers that the tests ask for and knows no other: compute the result"
            )
    return tuple(found)


def _callable(claim: Asserted) -> str:
    return claim.call.partition("(")[0].rpartition(".")[2]


def _pairs(claims: Sequence[Asserted]) -> list[tuple[str, object]]:
    """(call, expected value) of the assertions about values, each call once."""
    return list({one.call: literal(one.returns) for one in claims if one.returns}.items())


def _is_trivial(value: object) -> bool:
    return any(type(value) is type(one) and value == one for one in _TRIVIAL) or value in ([], (), {})


def _new_constants(rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str]) -> list[object]:
    """Constants of the changed product code that the base does not have; joined and added texts are folded."""
    found: dict[str, object] = {}
    for path in changed:
        if path.endswith(".py"):
            before = _constants(rig.git.show(base_tree, path))
            found |= {key: value for key, value in _constants(rig.git.show(tree, path)).items() if key not in before}
    return list(found.values())


def _constants(data: bytes | None) -> dict[str, object]:
    tree = module_of(data)
    found: dict[str, object] = {}
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.BinOp)):
            value = _folded(node) if id(node) not in prose else _NONE
            if value is not _NONE:
                found[f"{type(value).__name__} {value!r}"] = value
    return found


_NONE = object()


def _folded(node: ast.expr) -> object:
    """The value of a constant expression; `_NONE` when it is none."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _folded(node.left), _folded(node.right)
        both = isinstance(left, str) and isinstance(right, str)
        return left + right if both else _NONE  # type: ignore[operator]  # both are texts
    try:
        return literal(ast.unparse(node))
    except ValueError:
        return _NONE


def _all_held(told: Sequence[object], held: Sequence[object]) -> bool:
    known = {f"{type(one).__name__} {one!r}" for one in held}
    return all(f"{type(one).__name__} {one!r}" in known for one in told)


def _closed(claims: Sequence[Asserted], pairs: Sequence[tuple[str, object]]) -> bool:
    """The tests themselves ask for something of the same kind that is not in the list, and expect an exception."""
    kinds = {type(argument) for call, _ in pairs for argument in _arguments(call)[:1]}
    return any(type(argument) in kinds for one in claims if one.raises for argument in _arguments(one.call)[:1])


def _listed(pairs: Sequence[tuple[str, object]], request: str) -> bool:
    """The request itself lists every pair: three or more, or of single words."""
    asked = [argument for call, _ in pairs for argument in _arguments(call)]
    words = all(isinstance(one, str) and one.isalnum() for one in asked)
    if len(pairs) < _LISTED and not words:
        return False
    return all(str(one) in request for one in (*asked, *(value for _, value in pairs)))


def _arguments(call: str) -> list[object]:
    """The literal arguments of a call."""
    node = ast.parse(call, mode="eval").body
    if not isinstance(node, ast.Call):
        return []
    found = []
    for argument in (*node.args, *(one.value for one in node.keywords)):
        value = _folded(argument)
        if value is not _NONE:
            found.append(value)
    return found


def _memorised(pairs: Sequence[tuple[str, object]], held: Sequence[object]) -> bool:
    """Whether the new code holds every question of the tests too, all of them texts, and few others."""
    asked = [argument for call, _ in pairs for argument in _arguments(call)[:1]]
    long = [one for one in asked if isinstance(one, str) and len(one) >= _LISTED]
    if len(long) < _LEAST or not _all_held([one for one in asked if not _is_trivial(one)], held):
        return False
    answers = [value for _, value in pairs]
    return len([one for one in held if isinstance(one, str) and one not in asked and one not in answers]) < len(pairs)


def _probes(claims: Sequence[Asserted], held: Sequence[object]) -> list[tuple[Probe, object]]:
    """The tests' own calls with another first argument (varied in its own shape, or a constant of the new code), and that."""
    asked = {repr(argument) for one in claims for argument in _arguments(one.call)}
    made: dict[str, tuple[Probe, object]] = {}
    for one in claims:
        node = ast.parse(one.call, mode="eval")
        call = node.body
        if not one.returns or not isinstance(call, ast.Call) or not call.args:
            continue
        first = _folded(call.args[0])
        others = [value for value in held if type(value) is type(first)]
        for value in [*varied(first), *others]:
            if repr(value) not in asked:
                call.args[0] = ast.parse(repr(value), mode="eval").body
                source = ast.unparse(node)
                made.setdefault(source, (Probe(source=source, names=one.names), value))
    return list(made.values())


def varied(value: object) -> list[object]:
    """Values near to a value, of its shape: another letter for a letter, another digit for a digit, a neighbour of a number."""
    if type(value) is int:
        return [value + 1, value + 2, value + 7, value * 2 + 1]
    if type(value) is float:
        return [value + 1.0, value * 2 + 0.5]
    if type(value) is str and value:
        turned = "".join(_next(letter) for letter in value)
        return [turned, value[:-1] + _next(value[-1]), _next(value[0]) + value[1:], value + value]
    if isinstance(value, (list, tuple)) and value:
        return [value * 2, value[1:], value[::-1]]
    return []


def _next(letter: str) -> str:
    if letter in "zZ9":
        return {"z": "a", "Z": "A", "9": "1"}[letter]
    return chr(ord(letter) + 1) if letter.isalnum() and letter.isascii() else letter


def _only_a_fallback(answers: Sequence[Sequence[CallResult]], asked: Sequence[object]) -> bool:
    """Whether everything that was asked got one and the same constant, one exception, or itself."""
    flat = [answer for group in answers for answer in group]
    if not flat or any(answer.lost or answer.ended != "done" for answer in flat):
        return False
    kinds = set()
    for answer, argument in zip(flat, asked, strict=True):
        if answer.value is None:
            kinds.add(answer.raised[0][0] if answer.raised else "")
        else:
            kinds.add("itself" if not difference(answer.value, argument) else repr(answer.value))
    return len(kinds) == 1


def proved_callables(claims: Iterable[str], assertions: Sequence[Asserted]) -> frozenset[str]:
    """Callables of which a passed held-out check asks something that no test asks.

    Args:
        claims: calls of the held-out checks that passed.
    """
    asked = {one.call for one in assertions}
    return frozenset(call.partition("(")[0].rpartition(".")[2] for call in claims if call not in asked)
