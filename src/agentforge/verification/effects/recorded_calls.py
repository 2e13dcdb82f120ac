"""Calls that tests were seen to make of the change: which of them are of new or changed functions, and how they are repeated."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from agentforge.languages.python.source import module_of
from agentforge.suite import Rig
from agentforge.verification.effects.measured_dependencies import MeasuredCall
from agentforge.verification.examples.claims import is_literal
from agentforge.verification.examples.plain_answers import CallResult
from agentforge.verification.examples.plain_check import Probe, evaluate
from agentforge.verification.examples.typed_comparison import shown


def recorded_calls(
    rig: Rig, rows: Sequence[Mapping[str, Any]], *, base_tree: str, tree: str
) -> tuple[MeasuredCall, ...]:
    """The recorded calls of functions and methods that the tree adds or changes, with what each gave in its test.

    Args:
        rows: see `programs/recorded_calls.py`.
    """
    found = []
    for path in dict.fromkeys(str(row["path"]) for row in rows):
        before, after = meanings(rig.git.show(base_tree, path)), meanings(rig.git.show(tree, path))
        own = [row for row in rows if row["path"] == path]
        found += [
            call_of(row) for row in own if row["name"] not in after or after[row["name"]] != before.get(row["name"])
        ]
    return tuple(found)


def call_of(row: Mapping[str, Any]) -> MeasuredCall:
    """One recorded call as it is repeated."""
    returns = str(row.get("returns", ""))
    return MeasuredCall(
        probe=probe_of(row), returns=returns if is_literal(returns) else "", seen=True, told=str(row["told"])
    )


def probe_of(row: Mapping[str, Any]) -> Probe:
    """The call itself; its objects are unpickled where it is made, in the sandbox, and nowhere else."""
    names = {str(name): (tuple(modules), str(attribute)) for name, (modules, attribute) in row["names"].items()}
    return Probe(source=str(row["source"]), names=names)


def differing(
    rig: Rig, base_tree: str, tree: str, probes: Sequence[Probe], *, told: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[str, str, str]]:
    """The calls that give one and the same value twice at the base, and another in the tree: (call, before, after).

    Args:
        told: source of a call -> how it is told, where that is not its source.
    """
    yield from differing_in([probes], rig, base_tree, tree, told=told)[0]


def differing_in(
    groups: Sequence[Sequence[Probe]], rig: Rig, base_tree: str, tree: str, *,
    told: Mapping[str, str] = MappingProxyType({}),
) -> list[list[tuple[str, str, str]]]:  # fmt: skip
    """As `differing`, for groups of calls, one function's each: in one process for all of them, where none is lost in it.

    An interpreter that imports the product for each function would cost more than all the calls.
    """
    together = [probe for group in groups for probe in group]
    if not together:
        return [[] for _ in groups]
    old = evaluate(rig, base_tree, [together], repeat=2)[0]
    new = evaluate(rig, tree, [together])[0]
    if len(groups) > 1 and any(one.ended != "done" for one in (*old, *new)):
        return [list(differing(rig, base_tree, tree, group, told=told)) for group in groups]
    ends = list(accumulate(map(len, groups)))
    rows = dict(_compared(together, old, new, told))
    if rows:  # what holds for a second or for one checkout is no result of the call
        later = evaluate(rig, base_tree, [together])[0]
        rows = {number: row for number, row in rows.items() if later[number].value == old[number].value}
    return [
        [rows[number] for number in range(end - len(group), end) if number in rows]
        for group, end in zip(groups, ends, strict=True)
    ]


def _compared(
    probes: Sequence[Probe], old: Sequence[CallResult], new: Sequence[CallResult], told: Mapping[str, str]
) -> Iterator[tuple[int, tuple[str, str, str]]]:
    for number, probe in enumerate(probes):
        first, second, now = old[number], old[number + len(probes)], new[number]
        if first.value is None or first.value != second.value or now == first or now.lost:
            continue
        gives = shown(now.value) if now.value is not None else "an exception" if now.raised else "nothing"
        yield number, (told.get(probe.source, probe.source), shown(first.value), gives)


def meanings(data: bytes | None) -> dict[str, str]:
    """Dotted name of each function and method of a module -> what it does, its docstring and position left out."""
    tree = module_of(data)
    found: dict[str, str] = {}
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, node = waiting.pop()
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.ClassDef):
                waiting.append((f"{prefix}{one.name}.", one))
            elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                prose = isinstance(one.body[0], ast.Expr) and isinstance(one.body[0].value, ast.Constant)
                parts = [one.args, *one.decorator_list, *one.body[1 if prose else 0 :]]
                found[f"{prefix}{one.name}"] = "".join(ast.dump(part) for part in parts)
            elif isinstance(one, (ast.If, ast.Try, ast.With)):
                waiting.append((prefix, one))
    return found
