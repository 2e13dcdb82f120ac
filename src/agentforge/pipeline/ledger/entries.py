"""The ledger as INTAKE records it: each ask with its text and its literal examples. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Literal, cast

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.ledger.asks import asks_of, numbered, values_of
from agentforge.pipeline.ledger.surroundings import in_context, lead_in
from agentforge.pipeline.model.stage import Json, items
from agentforge.pipeline.small_models.reading.request_parser import claims_of_clause
from agentforge.verification.effects.observed_effects import Clause, clauses
from agentforge.verification.examples import claims, claims_javascript
from agentforge.verification.examples.claims import Claim, outcome, spelling
from agentforge.verification.examples.prose import COMPLAINT, unbroken

Tense = Literal["wanted", "plain", "observed"]
"""wanted = its words ask for the result; plain = it is said, and nothing contradicts it; observed = it is reported of today."""
Example = tuple["Claim", Tense]


def examples_of(request: str, start: int, end: int, reader: ModuleType) -> tuple[Example, ...]:
    """Read the examples of a stretch of a request, one for each call, with what stands beside it there.

    What is wanted goes before what is reported of it.

    Args:
        reader: `runners.claims` or `runners.claims_javascript`.
    """
    if "(" not in request[start:end]:
        return ()
    request = _unbroken(request)
    read = [*_read(request, start, end, reader)]
    found: dict[str, Example] = {}
    for claim, tense in read:
        call = spelling(claim.call)
        known = found.get(call)
        if known is None or (_RANK[tense], len(claim.beside)) < (_RANK[known[1]], len(known[0].beside)):
            found[call] = (claim, tense)
    ask, all_read = lead_in(request, start) + request[start:end], [claim for claim, _ in read]
    return tuple((in_context(claim, ask, all_read, reader), tense) for claim, tense in found.values())


_RANK = {"wanted": 0, "plain": 1, "observed": 2}


def context_of(claim: Claim, request: str, asks: Sequence[LedgerEntry], reader: ModuleType) -> Claim:
    """The claim as it stands in the request, whoever copied it from there."""
    text = _unbroken(request)
    for entry in asks:
        ask = text[entry.start : entry.end]
        if claim.call in ask:
            ask = lead_in(text, entry.start) + ask
            claim = in_context(claim, ask, [one for one, _ in _read(text, entry.start, entry.end, reader)], reader)
    return claim


def reported(request: str, reader: ModuleType) -> frozenset[tuple[str, str, str]]:
    """What a request only reports of today, as `outcome` has it: no clause of it wants or plainly states the same.

    Args:
        reader: `claims` or `claims_javascript`.
    """
    said: dict[bool, set[tuple[str, str, str]]] = {True: set(), False: set()}
    text = _unbroken(request)
    for part, tense in _parts(text, 0, len(text)) if "(" in text else ():
        today = tense == "observed"
        read = reader.claims_in(COMPLAINT.sub("", part) if today else part)
        said[today] |= {outcome(claim) for claim in read}
    return frozenset(said[True] - said[False])


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
def _unbroken(request: str) -> str:
    return unbroken(request)


@lru_cache(maxsize=4)
def _clauses(request: str) -> tuple[Clause, ...]:
    return clauses(request)


def _turned(text: str, reader: ModuleType) -> Iterator[Claim]:
    """Complaints turned into what is wanted."""
    if reader is claims:
        yield from (one for one in claims_of_clause(" ".join(text.split())) if not one.asked)


_SHOWN = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One ask of the ledger.

    Attributes:
        number: from 1.
        start, end: offsets in the request.
        text: what stands there.
        kind: sentence, item, code or table.
        examples: {example, tense, beside} of each call with its result; tense is wanted, plain or observed (reported of today),
            beside the code that stands there, too, and may be needed for it.
    """

    number: int
    start: int
    end: int
    text: str
    kind: str
    examples: tuple[Json, ...] = ()

    @property
    def words(self) -> str:
        """The ask in one line, cut where it is long."""
        line = " ".join(self.text.split())
        return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 4].rstrip()} ..."

    @property
    def wanted(self) -> list[str]:
        """The examples that it does not merely report of today."""
        return [str(row.get("example")) for row in self.examples if row.get("tense") != "observed"]

    @property
    def telling(self) -> bool:
        """Whether it holds something exact: an example, code, a quoted text, a number."""
        return self.kind in ("code", "table") or bool(self.examples) or bool(values_of(self.text))


def ledger_rows(request: str) -> list[dict[str, object]]:
    """Make the ledger of a request, as it is recorded; `exact` marks the asks that are `telling`."""
    rows: list[dict[str, object]] = [
        {
            "number": ask.number,
            "start": ask.start,
            "end": ask.end,
            "kind": ask.kind,
            "text": request[ask.start : ask.end],
            **({"examples": found} if (found := _examples(request, ask.start, ask.end)) else {}),
        }
        for ask in asks_of(request)
    ]
    return [
        {**row, "exact": True} if entry.telling else row
        for row, entry in zip(rows, entries_in({"asks": rows}), strict=True)
    ]


def ledger_of(state: RunState) -> tuple[LedgerEntry, ...]:
    """The ledger that INTAKE recorded; () in the logs of earlier versions and on the roads that have none."""
    return entries_in(state.work.artifacts.get("intake", {}))


def entries_in(intake: Json) -> tuple[LedgerEntry, ...]:
    """The ledger of an intake record."""
    return tuple(
        LedgerEntry(
            number=_whole(row, "number"),
            start=_whole(row, "start"),
            end=_whole(row, "end"),
            text=str(row.get("text", "")),
            kind=str(row.get("kind", "")),
            examples=tuple(items(row.get("examples"))),
        )
        for row in items(intake.get("asks"))
    )


def numbered_request(state: RunState) -> str:
    """The request with the numbers of its asks."""
    return numbered(state.brief.request, [(entry.number, entry.start) for entry in ledger_of(state)])


def _examples(request: str, start: int, end: int) -> list[dict[str, object]]:
    """The examples in the language that reads most of them."""
    if "(" not in request[start:end]:
        return []

    both = [examples_of(request, start, end, reader) for reader in (claims, claims_javascript)]
    return [
        {"example": claim.text, "tense": tense, **({"beside": list(claim.beside)} if claim.beside else {})}
        for claim, tense in max(both, key=len)
    ]


def _whole(row: Mapping[str, object], name: str) -> int:
    return int(cast("int", row.get(name) or 0))
