"""What follows from a human's ruling on a dispute: for examples, for claims, and for test files. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.disputes import BASE, Ruling, overruled_tests, rulings, set_aside
from agentforge.pipeline.facts.examples import stands_in
from agentforge.pipeline.model.scope import superseded_tests
from agentforge.pipeline.model.stage import items
from agentforge.verification.examples.assertions import assertions, contradicts, played, with_result
from agentforge.verification.examples.claims import Claim, claims_in, contradictions, spelling
from agentforge.verification.source.test_hashes import test_functions

_MOST = 60
"""Assertions of one test file that one ruling changes."""


def counts(claim: Claim, state: RunState) -> bool:
    """Whether a claim still counts: not one of a call of which a human decided otherwise."""
    call = spelling(claim.call)
    upheld = [_upheld(one) for one in rulings(state) if one.call == call]
    return not any(contradictions([claim, replace(one, call=claim.call)]) for one in upheld)


def kept_examples(examples: Iterable[str], state: RunState) -> list[str]:
    """The examples of a request without what a human overruled; of one that holds more, what is left of it."""
    kept = []
    sides = [side for one in rulings(state) for result in one.overruled for side in items(result.get("sides"))]
    overruled = [str(side.get("quote")) for side in sides if not side.get("path")]
    for text in examples:
        claims = _claims_of(text, state)
        if not claims and any(stands_in(text, quote) for quote in overruled):
            continue
        if all(counts(one, state) for one in claims):
            kept.append(text)
        else:
            kept += [one.text for one in claims if counts(one, state) and stands_in(one.text, state.brief.request)]
    return list(dict.fromkeys(kept))


def parts_of_examples(examples: Iterable[str], state: RunState) -> list[str]:
    """Each single claim of the examples, in the words of the request."""
    found = [one.text for text in examples for one in _claims_of(text, state)]
    return [text for text in dict.fromkeys(found) if stands_in(text, state.brief.request)]


def _claims_of(text: str, state: RunState) -> tuple[Claim, ...]:
    return claims_in(text)


def amended(path: str, data: bytes, state: RunState) -> bytes:
    """A test file with every overruled assertion changed to what holds, and without the tests that a human took out."""
    data = _without(data, {name for one, name in set_aside(state) if one == path})
    if not any(path == one for one, _ in overruled_tests(state)):
        return data
    tests = {name for one, name in overruled_tests(state) if one == path}
    for ruling in rulings(state):
        wanted = _upheld(ruling)
        quotes = {side.get("quote") for result in ruling.overruled for side in items(result.get("sides"))}
        for _ in range(_MOST):
            read = [
                *assertions(path, data),
                *(one.assertion for one in played(path, data) if one.assertion.quote in quotes),
            ]
            wrong = [one for one in read if one.test in tests and ruling.call in one.calls]
            changed = next((with_result(data, one, wanted) for one in wrong if contradicts(one, wanted)), None)
            if changed is None or changed == data:
                break
            data = changed
    return data


def superseded(state: RunState) -> tuple[str, ...]:
    """Existing tests that the specification changes, and those that a human overruled or took out."""
    overruled = (f"{path}::{name}" for path, name in ruled_tests(state))
    return (*superseded_tests(state.work.artifacts.get("spec", {})), *overruled)


def ruled_tests(state: RunState) -> tuple[tuple[str, str], ...]:
    """(path, name) of the repository's tests that a human overruled or took out."""
    return (*overruled_tests(state, by=BASE), *set_aside(state, by=BASE))


def _without(data: bytes, tests: set[str]) -> bytes:
    """A test file without some of its tests."""
    lines = data.splitlines(keepends=True)
    for name, node, _classes in reversed(list(test_functions(data))):
        if name in tests:
            first = min(one.lineno for one in (node, *node.decorator_list))
            lines[first - 1 : node.end_lineno] = []
    return b"".join(lines)


def _upheld(ruling: Ruling) -> Claim:
    returns, raises = (str(ruling.upheld.get(name) or "") for name in ("returns", "raises"))
    return Claim(call=ruling.call, returns=returns, raises=raises)
