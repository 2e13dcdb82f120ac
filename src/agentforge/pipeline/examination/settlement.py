"""What becomes of an examiner's tests: they are measured, and about those that fail a second reader of the request decides. Pure.

A test that holds agrees. One that fails shows that the tree and a reader of the request differ; which of them is right is told by
somebody who sees the request, the test and the result, and who has to quote the words that decide it. A quotation that does not
stand in the request decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.agent.prose import last_artifact_in
from agentforge.pipeline.examination.written_tests import says_and_code, stands_in
from agentforge.pipeline.model.stage import Json, items

DISPUTED = "disputed"
_MOST = 24
_RULINGS = {"demanded": "contradicts", "open": "open", "mistaken": "dropped"}

Row = dict[str, object]


def measured_rows(source: str, looks: Mapping[str, Json], request: str, known: Sequence[Json] = ()) -> tuple[Row, ...]:
    """Each test with what was measured, and its verdict where measurement alone gives one.

    Args:
        source: the test file.
        looks: {held, got: what the failure says, before: outcome at the base, unchecked: why it says nothing} by the test's id.
        request: the words that the examiner was given.
        known: the rows of an earlier measurement of the same file: a second reading of a test that fails again stays.
    Returns:
        {test, says, code, held, got, before, unchecked, verdict, why}; the verdict is "agrees", "dropped", "disputed", or one
        that a second reader gave before.
    """
    rulings = {row.get("test"): row for row in known if row.get("ruled")}
    out: list[Row] = []
    for test, look in list(looks.items())[:_MOST]:
        says, code = says_and_code(source, test)
        row: Row = {"test": test, "says": says, "code": code, **look}
        earlier = rulings.get(test)
        if look.get("unchecked"):
            row |= {"verdict": "dropped", "why": look["unchecked"]}
        elif look.get("held"):
            row |= {"verdict": "agrees", "why": ""}
        elif not stands_in(says, request):
            row |= {"verdict": "dropped", "why": "no words of the request stand above it"}
        elif earlier is not None:
            row |= {name: earlier[name] for name in ("verdict", "why", "ruled")}
        else:
            row |= {"verdict": DISPUTED, "why": ""}
        out.append(row)
    return tuple(out)


def ruled_rows(rows: Sequence[Json], answer: str, request: str) -> tuple[Row, ...]:
    """The rows with the verdicts of a second reading; what it does not decide is open.

    Args:
        answer: of the second reader: {verdicts: [{test: number from 1 among the disputed ones, verdict, quote, why}]}.
    """
    value = last_artifact_in(answer) or {}
    given = {str(one.get("test")).strip(): one for one in items(value.get("verdicts"))}
    out: list[Row] = []
    number = 0
    for row in rows:
        if row.get("verdict") != DISPUTED:
            out.append(dict(row))
            continue
        number += 1
        out.append({**row, "ruled": True, **_ruling(given.get(str(number)), request)})
    return tuple(out)


def disputed(rows: Sequence[Json]) -> list[Json]:
    """The rows that wait for a second reading."""
    return [row for row in rows if row.get("verdict") == DISPUTED]


def _ruling(found: Json | None, request: str) -> Row:
    if found is None:
        return {"verdict": "open", "why": "no second reading decided it"}
    verdict = _RULINGS.get(str(found.get("verdict", "")).strip().lower(), "open")
    why = str(found.get("why", "")).strip()
    if verdict == "contradicts" and not stands_in(str(found.get("quote", "")), request):
        return {"verdict": "open", "why": why or "the words that would decide it do not stand in the request"}
    return {"verdict": verdict, "why": why}
