"""The literal examples of an ask: calls with their results, and whether the request wants them or reports them of today. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from agentforge.pipeline.small_models.reading.request_parser import claims_of_clause
from agentforge.verification.effects.observed_effects import Clause, clauses
from agentforge.verification.examples import claims
from agentforge.verification.examples.claims import spelling

if TYPE_CHECKING:
    from types import ModuleType

    from agentforge.verification.examples.claims import Claim

Tense = Literal["wanted", "plain", "observed"]
"""wanted = its words ask for the result; plain = it is said, and nothing contradicts it; observed = it is reported of today."""
Example = tuple["Claim", Tense]


def examples_of(request: str, start: int, end: int, reader: ModuleType) -> tuple[Example, ...]:
    """Read the examples of a stretch of a request, one for each call: what is wanted goes before what is reported of it.

    Args:
        reader: `runners.claims` or `runners.claims_javascript`.
    """
    if "(" not in request[start:end]:
        return ()
    found: dict[str, Example] = {}
    for claim, tense in _read(request, start, end, reader):
        call = spelling(claim.call)
        known = found.get(call)
        if known is None or _RANK[tense] < _RANK[known[1]]:
            found[call] = (claim, tense)
    return tuple(found.values())


_RANK = {"wanted": 0, "plain": 1, "observed": 2}


def _read(request: str, start: int, end: int, reader: ModuleType) -> Iterator[Example]:
    told: set[str] = set()
    for part, tense in _parts(request, start, end):
        for claim in reader.claims_in(part):
            told.add(claim.text)
            yield claim, tense
    for claim in _turned(request[start:end], reader):
        if claim.text not in told:  # "gives 2 but should give 3": no clause alone says that the call gives 3
            yield claim, "wanted"


def _parts(request: str, start: int, end: int) -> Iterator[tuple[str, Tense]]:
    for clause in _clauses(request):
        part = request[max(clause.start, start) : min(clause.end, end)]
        if clause.start < end and clause.end > start and part.strip():
            yield part, clause.tense if clause.tense in ("wanted", "plain") else "observed"


@lru_cache(maxsize=4)
def _clauses(request: str) -> tuple[Clause, ...]:
    return clauses(request)


def _turned(text: str, reader: ModuleType) -> Iterator[Claim]:
    """Complaints turned into what is wanted."""

    if reader is claims:
        yield from (one for one in claims_of_clause(" ".join(text.split())) if not one.asked)
