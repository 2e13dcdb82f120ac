"""Contradictions between what the request states of a call and what tests assert of the same call, read from both texts."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentforge.errors import ToolchainError
from agentforge.events.state.run_state import RunState
from agentforge.languages.symbols import Symbol
from agentforge.pipeline.engine.disputes import BASE, GIVEN, REQUEST
from agentforge.pipeline.facts.examples import literals
from agentforge.pipeline.facts.source_findings import defines
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.ledger.asks import asks_of
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Json, items
from agentforge.suite import Edits, Rig, run_tree
from agentforge.verification.examples.assertions import (
    Assertion,
    Played,
    assertions,
    contradicts,
    has_literal_arguments,
    played,
    with_result,
)
from agentforge.verification.examples.claims import Claim, claims_in, is_literal, literal, names_of, spelling
from agentforge.verification.examples.plain_check import claim_looks
from agentforge.workspace.code.relevance import is_test_path

_LEAST = 2
"""Values that a clause and a test must share before they speak of the same thing."""
_FILES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What the request says of a call, and the sentence in which it does."""

    claim: Claim
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionFound:
    """An ask of the request that names values, the result last."""

    values: tuple[str, ...]
    sentence: str


def disputes(state: RunState, runtime: Runtime) -> list[dict[str, object]]:
    """The calls of which the request and a test state different results.

    Read are the user's own tests, and the tests of the base. A test of the base that asserts a result that the request names
    beside its own is no dispute: the request speaks of both. Neither is a test of the user's that fails at the base because the
    base gives what the request says: then the request reports that.

    Returns:
        {call, results: [{returns, raises, sides: [{by, where, quote, path, test, fixed}]}]}, the request's results first.
    """
    stated = stated_in(state.brief.request)
    told = told_in(state.brief.request)
    if not stated and not told:
        return []
    sources = {path: (GIVEN, data) for path, data in runtime.supplied.items() if path.endswith(".py")}
    for path, data in _tests_of_base(state, runtime, _words(stated, told), besides=set(runtime.supplied)):
        sources[path] = (BASE, data)
    rows = found_in(state.brief.request, stated, sources)
    known = {side["quote"] for row in rows for result in items(row["results"]) for side in items(result["sides"])}
    rows += [row for row in found_after(state.brief.request, told, sources) if not _quotes(row) & known]
    return [row for row in rows if not _given_by_base(row, state, runtime)]


def _given_by_base(row: Mapping[str, object], state: RunState, runtime: Runtime) -> bool:
    """Whether the base gives one of the results that the request states, so that it reports that one of today.

    Where only the request states results, its calls are made; where a test of the user's states another one, that is run.
    """
    results = items(row["results"])
    sides = [side for result in results for side in items(result["sides"]) if side.get("path")]
    tests = [f"{side['path']}::{side['test']}" for side in sides if side["by"] == GIVEN]
    if sides and not tests:
        return False
    try:
        rig, tree = bounded_rig(state, runtime), runtime.git.tree_of(state.identity.base_commit)
        if not sides:
            return _gives_one_of(results, str(row["call"]), rig, tree, runtime)
        run = run_tree(rig, tree, tests=tests, edits=Edits(files=dict(runtime.supplied)))
    except ToolchainError:
        return False
    told = [one.failure.text for one in run.outcomes.values() if one.failure is not None]
    value = str(results[0].get("raises") or results[0].get("returns"))
    return bool(told) and all(_names(text, value) for text in told)


def _gives_one_of(results: Sequence[Json], call: str, rig: Rig, tree: str, runtime: Runtime) -> bool:
    """Whether a call gives one of some results on a tree; not where nothing of its name is defined there."""
    if not rig.plan.interpreter:
        return False
    files = [path for path in _files_with(names_of(call), tree, runtime) if not is_test_path(path)]
    read = rig.read(tree)
    symbols = [
        Symbol(name=name, file=path, kind="function", signature="")
        for path in files[:_FILES]
        for name in names_of(call)
        if defines(path, name, read(path) or b"", exactly=True)
    ]
    said = [Claim(call=call, returns=str(one["returns"]), raises=str(one["raises"]), asked=True) for one in results]
    looks = claim_looks(rig, tree, said, symbols=symbols, base_tree=tree)
    return any(not one.wrong and not one.unchecked for one in looks)


def found_in(
    request: str, stated: Sequence[Stated], sources: Mapping[str, tuple[str, bytes]]
) -> list[dict[str, object]]:
    """The disputes between what a request states and the assertions of test files.

    Args:
        sources: path -> (given or base, content).
    """
    read = [(by, data, one) for path, (by, data) in sources.items() for one in assertions(path, data)]
    grouped: dict[str, list[Stated]] = {}
    for one in stated:
        grouped.setdefault(spelling(one.claim.call), []).append(one)
    rows = []
    for call, said in grouped.items():
        results: dict[str, dict[str, object]] = {}
        for one in said:
            side: dict[str, object] = {"by": REQUEST, "where": "the request", "quote": one.sentence}
            _add(results, one.claim.returns, one.claim.raises, side)
        for by, data, found in read:
            against = [item for item in said if call in found.calls and contradicts(found, item.claim)]
            if len(against) < len(said) or (by == BASE and _names_both(request, said[0].claim.call, found)):
                continue
            _add(results, found.returns, found.raises, _side(by, data, found, said[0].claim))
        if len(results) > 1:
            row: dict[str, object] = {"call": call, "results": list(results.values())}
            rows.append(row)
    return rows


def told_in(request: str) -> list[ContradictionFound]:
    """The asks of a request that tell what comes of some values: "after add('a', 1) and add('b', -3) it is -2"."""
    found = []
    for text in _asks(request):
        values = literals(text.strip().rstrip(".!?"))
        if len(values) > _LEAST:
            found.append(ContradictionFound(values=tuple(values), sentence=" ".join(text.split())))
    return found


def found_after(
    request: str, told: Sequence[ContradictionFound], sources: Mapping[str, tuple[str, bytes]]
) -> list[dict[str, object]]:
    """The disputes over what comes of several steps: an ask and a test name the very same values and then another result.

    What the test asks must stand in the request by its name.
    """
    rows: list[dict[str, object]] = []
    for path, (by, data) in sources.items():
        for one in played(path, data):
            count = len(one.inputs)
            if count < _LEAST or not one.expected or not re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", request):
                continue
            said = [
                item
                for item in told
                if item.values[:count] == one.inputs and len(item.values) == count + len(one.expected)
            ]
            against = [item for item in said if item.values[count:] != one.expected]
            if (
                not against
                or len(against) < len(said)
                or (by == BASE and _names_both(request, one.name, one.assertion))
            ):
                continue
            wanted = _result_of(against[0].values[count:], one.assertion)
            rows.append(_row_after(against[0], one, wanted, by=by, data=data))
    return rows


def _row_after(told: ContradictionFound, one: Played, wanted: str, *, by: str, data: bytes) -> dict[str, object]:
    call = one.assertion.calls[0]
    request = {"by": REQUEST, "where": "the request", "quote": told.sentence}
    results = [
        {"returns": wanted, "raises": "", "sides": [request]},
        {
            "returns": one.assertion.returns,
            "raises": "",
            "sides": [_side(by, data, one.assertion, Claim(call=call, returns=wanted))],
        },
    ]
    return {"call": call, "results": results}


def _result_of(values: Sequence[str], one: Assertion) -> str:
    """The expected result of an assertion with other values in it, as source."""
    return ast.unparse(_Refill(values).visit(ast.parse(one.returns, mode="eval")))


class _Refill(ast.NodeTransformer):
    """Puts values in the place of the texts and numbers of a literal, in order."""

    def __init__(self, values: Sequence[str]) -> None:
        self._left = list(values)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, bool) or node.value is None:
            return node
        value = self._left.pop(0)
        text = isinstance(node.value, str) or not is_literal(value)
        return ast.Constant(value=value if text else literal(value))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self.visit_Constant(node.operand) if isinstance(node.operand, ast.Constant) else node


def _quotes(row: Mapping[str, object]) -> set[object]:
    sides = [side for result in items(row["results"]) for side in items(result["sides"])]
    return {side["quote"] for side in sides if side.get("path")}


def _words(stated: Sequence[Stated], told: Sequence[ContradictionFound]) -> set[str]:
    """What test files are looked for by: the names of the calls, and the longest value of each ask."""
    names = {name.rpartition(".")[2] for one in stated for name in names_of(one.claim.call)}
    return names | {max(one.values, key=len) for one in told}


def _add(results: dict[str, dict[str, object]], returns: str, raises: str, side: dict[str, object]) -> None:
    key = raises or repr(literal(returns))
    row = results.setdefault(key, {"returns": returns, "raises": raises, "sides": []})
    sides = row["sides"]
    assert isinstance(sides, list)
    if side not in sides:
        sides.append(side)


def _side(by: str, data: bytes, one: Assertion, wanted: Claim) -> dict[str, object]:
    fixed = with_result(data, one, wanted) is not None
    where = f"{one.path}:{one.line}"
    return {"by": by, "where": where, "quote": one.quote, "path": one.path, "test": one.test, "fixed": fixed}


def _says_its_input(call: ast.expr) -> bool:
    """Whether a call holds the values that decide about its result; `total()` gives what came before it."""
    given = any(one.args or one.keywords for one in ast.walk(call) if isinstance(one, ast.Call))
    return given and has_literal_arguments(call)


def stated_in(request: str) -> list[Stated]:
    """The results of calls that a request states, each with its sentence."""
    parts = _asks(request)
    found = [
        Stated(claim=one, sentence=" ".join(part.split()))
        for part in parts
        for one in claims_in(part)
        if _says_its_input(ast.parse(one.call, mode="eval").body)
    ]
    return list({one.claim: one for one in reversed(found)}.values())[::-1]


def _names_both(request: str, call: str, one: Assertion) -> bool:
    """Whether the asks that speak of a call, or those beside them, also name the result that a test asserts.

    "gives 3, it should be 4", "4 instead of 3": then the request knows of it, and says what becomes of it.
    """
    parts = _asks(request)
    places = [number for number, text in enumerate(parts) if call in " ".join(text.split())]
    near = {place for number in places for place in (number - 1, number, number + 1) if 0 <= place < len(parts)}
    said = "\n".join(parts[place] for place in sorted(near)).replace(call, " ")
    return _names(said, one.raises or one.returns)


def _names(text: str, value: str) -> bool:
    """Whether a text names a value, and not only as a piece of a longer word or number."""
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.]*\w)", text) is not None


def _asks(request: str) -> list[str]:
    return [request[one.start : one.end] for one in asks_of(request)]


def _tests_of_base(
    state: RunState, runtime: Runtime, names: set[str], *, besides: set[str]
) -> Iterator[tuple[str, bytes]]:
    """The Python test files of the base that hold one of the names."""
    listed = _files_with(sorted(names), state.identity.base_commit, runtime)
    for path in [path for path in listed if is_test_path(path) and path not in besides][:_FILES]:
        yield path, runtime.git.show(state.identity.base_commit, path) or b""


def _files_with(names: Sequence[str], tree: str, runtime: Runtime) -> list[str]:
    """The Python files of a tree that hold one of the names."""
    words = [part for name in names for part in ("-e", name)]
    done = runtime.git.command.run("grep", "-l", "-z", "-I", "-F", *words, tree, "--", "*.py")
    return [one.removeprefix(f"{tree}:") for one in os.fsdecode(done.output).split("\0") if one]
