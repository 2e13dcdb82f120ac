"""Contradictions between what the request states of a call and what tests assert of the same call, read from both texts."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.disputes import BASE, GIVEN, REQUEST
from agentforge.pipeline.facts.examples import literals
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import items
from agentforge.verification.effects.observed_effects import clauses, wanted_part
from agentforge.verification.examples.assertions import (
    Assertion,
    assertions,
    contradicts,
    has_literal_arguments,
    with_result,
)
from agentforge.verification.examples.assertions_after_steps import Played, played
from agentforge.verification.examples.claims import Claim, claims_in, is_literal, literal, names_of, spelling
from agentforge.workspace.code.relevance import is_test_path

_LONGEST = 4000
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
    """A clause of the request that names values, the result last."""

    values: tuple[str, ...]
    sentence: str


def disputes(state: RunState, runtime: Runtime) -> list[dict[str, object]]:
    """The calls of which the request and a test state different results.

    Read are the user's own tests, and the tests of the base. A test of the base that asserts what the request itself tells of
    today is no dispute: the request speaks of both results.

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
    return [*rows, *(row for row in found_after(state.brief.request, told, sources) if not _quotes(row) & known)]


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
            if len(against) < len(said) or (by == BASE and _told_of_today(request, found)):
                continue
            _add(results, found.returns, found.raises, _side(by, data, found, said[0].claim))
        if len(results) > 1:
            row: dict[str, object] = {"call": call, "results": list(results.values())}
            rows.append(row)
    return rows


def told_in(request: str) -> list[ContradictionFound]:
    """The clauses of a request that tell what comes of some values: "after add('a', 1) and add('b', -3) it is -2"."""
    found = []
    for part in clauses(request):
        values = literals(part.text.strip().rstrip(".!?"))
        if part.tense in ("wanted", "plain") and len(values) > _LEAST:
            found.append(ContradictionFound(values=tuple(values), sentence=" ".join(part.text.split())))
    return found


def found_after(
    request: str, told: Sequence[ContradictionFound], sources: Mapping[str, tuple[str, bytes]]
) -> list[dict[str, object]]:
    """The disputes over what comes of several steps: a clause and a test name the very same values and then another result.

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
            if not against or len(against) < len(said) or (by == BASE and _told_of_today(request, one.assertion)):
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
    """What test files are looked for by: the names of the calls, and the longest value of each clause."""
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
    """The results of calls that a request states as wanted, each with its sentence."""
    parts = [one.text for one in clauses(request) if one.tense in ("wanted", "plain")]
    wanted = wanted_part(request)
    found = claims_in(wanted) if len(wanted) <= _LONGEST else [one for part in parts for one in claims_in(part)]
    kept = [one for one in found if _says_its_input(ast.parse(one.call, mode="eval").body)]
    return [Stated(claim=one, sentence=_sentence(one, parts, request)) for one in dict.fromkeys(kept)]


def _sentence(claim: Claim, parts: Sequence[str], request: str) -> str:
    """The clause of the request that states a result; the whole request where it cannot be told."""
    found = [part for part in parts if len(part) <= _LONGEST and claim in claims_in(part)]
    return " ".join((found[0] if found else request).split())


def _told_of_today(request: str, one: Assertion) -> bool:
    """Whether the request itself tells of the asserted result as today's: "gives 3, it should be 4", "4 instead of 3"."""
    shown = one.raises or one.returns
    today = " ".join(part.text for part in clauses(request) if part.tense in ("observed", "open"))
    return re.search(rf"(?<![\w.]){re.escape(shown)}(?![\w.]*\w)", today) is not None


def _tests_of_base(
    state: RunState, runtime: Runtime, names: set[str], *, besides: set[str]
) -> Iterator[tuple[str, bytes]]:
    """The Python test files of the base that hold one of the names."""
    words = [part for name in sorted(names) for part in ("-e", name)]
    done = runtime.git.command.run("grep", "-l", "-z", "-I", "-F", *words, state.identity.base_commit, "--", "*.py")
    listed = [one.removeprefix(f"{state.identity.base_commit}:") for one in os.fsdecode(done.output).split("\0") if one]
    for path in [path for path in listed if is_test_path(path) and path not in besides][:_FILES]:
        yield path, runtime.git.show(state.identity.base_commit, path) or b""
