"""An examiner's examples, read from its answer and settled by what was measured. Pure.

A slip of the examiner's is dropped. A result that the request states, and the tree does not give, is a fact against the tree.
Everything else that fails shows that the request can be read in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.agent.prose import last_artifact_in
from agentforge.pipeline.facts.examples import literals
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.verification.effects.observed_effects import wanted_part
from agentforge.verification.examples.claims import Claim, contradictions, spelling
from agentforge.verification.examples.properties import with_input

if TYPE_CHECKING:
    from types import ModuleType

    pass

_MOST = 24
_INPUTS = 4
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n+")

Row = dict[str, object]


def rows_in(answer: str, reader: ModuleType) -> list[Row] | None:
    """The examples of an answer, and one for each input of its properties; None when it cannot be read.

    Args:
        reader: `runners.claims` or `runners.claims_javascript`.
    Returns:
        {call, returns or raises, says, confidence, dropped: why it cannot be run, "" = it can}.
    """
    value = last_artifact_in(answer)
    if value is None:
        return None
    rows = [_example(item, reader) for item in items(value.get("examples"))]
    rows += [row for item in items(value.get("properties")) for row in _property(item, reader)]
    return rows[:_MOST] or None


def _example(item: Json, reader: ModuleType) -> Row:
    told = {"says": str(item.get("says", "")), "confidence": str(item.get("confidence", ""))}
    try:
        claim = reader.claim_of(item)
    except ValueError as exc:
        return {"call": str(item.get("call", "")), **told, "dropped": str(exc)}
    result = {"raises": claim.raises} if claim.raises else {"returns": claim.returns}
    return {"call": claim.call, **result, **told, "dropped": ""}


def _property(item: Json, reader: ModuleType) -> list[Row]:
    """A property holds for every input: the expression with `x` replaced by it is true."""

    told = {"says": str(item.get("says", "")), "confidence": str(item.get("confidence", ""))}
    source = str(item.get("property", "")).strip()
    rows: list[Row] = []
    for given in texts(item.get("inputs"))[:_INPUTS]:
        call = with_input(source, given, python=reader.__name__.endswith(".claims"))
        dropped = "" if call and reader.names_of(call) else f"{source!r} with x = {given} is no expression"
        rows.append({"call": call or source, "returns": "True", **told, "dropped": dropped})
    return rows


def settled(
    rows: Sequence[Json],
    looks: Mapping[int, Json],
    request: str,
    reader: ModuleType,
    *,
    decided: Collection[str] = (),
) -> tuple[Row, ...]:
    """Each example with its verdict and, where it is not "agrees", why.

    Args:
        rows: as `rows_in` gives them.
        looks: {held, got, unchecked} of those that were run, by their number.
        request: the words that the examiner was given: the request with a human's answers.
        decided: calls of which a human decided what they give, whatever the request says.
    """

    twice = set(contradictions([_claim(row) for row in rows if not row.get("dropped")]))
    wanted = _wanted(request)
    stated = {spelling(one.call): one for one in reader.claims_in(wanted)}
    out: list[Row] = []
    for number, row in enumerate(rows):
        known = stated.get(spelling(str(row.get("call"))))
        look = looks.get(number, {"unchecked": "it was not run"})
        slip = str(row.get("dropped") or "")
        if not slip and row.get("call") in twice:
            slip = "it contradicts another example of the examiner's own"
        if not slip and spelling(str(row.get("call"))) in decided:
            slip = "a human decided what this call gives"
        if not slip and known is not None and not _same(row, known):
            slip = f"it contradicts the request: {known.text}"
        slip = slip or str(look.get("unchecked") or "")
        verdict, why = ("dropped", slip) if slip else _verdict(row, look, wanted, known is not None)
        measured = {} if row.get("dropped") else {name: look.get(name) for name in ("held", "got", "unchecked")}
        out.append({**row, **measured, "verdict": verdict, "why": why})
    return tuple(out)


def _verdict(row: Json, look: Json, wanted: str, stated: bool) -> tuple[str, str]:
    if look.get("held"):
        return "agrees", ""
    if stated or _stands_beside(row, wanted):
        return "contradicts", "the request states this result"
    return "open", "the request states neither result"


def _stands_beside(row: Json, wanted: str) -> bool:
    """Whether one sentence names this call's inputs and then this result, and no other value at all."""
    given = literals(str(row.get("call")))
    raises = str(row.get("raises") or "")
    expected = literals(str(row.get("returns") or ""))
    if not given or not (raises or expected):
        return False
    for sentence in _SENTENCE.split(wanted):
        if literals(sentence) == [*given, *expected] and (
            not raises or re.search(rf"\b{re.escape(raises)}\b", sentence)
        ):
            return True
    return False


def _wanted(request: str) -> str:
    """What the words say of what is wanted: a complaint about today is no promise."""

    return wanted_part(request)


def _same(row: Json, claim: Claim) -> bool:

    mine = _claim(row)
    return not contradictions([mine, replace(claim, call=mine.call)])


def _claim(row: Json) -> Claim:

    return Claim(call=str(row["call"]), returns=str(row.get("returns") or ""), raises=str(row.get("raises") or ""))


def expected_of(row: Json) -> str:
    """What the examiner expected, in words."""
    return f"raises {row.get('raises')}" if row.get("raises") else f"gives {row.get('returns')}"
