"""The ledger as INTAKE records it: each ask with its text and its literal examples. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import cast

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.ledger.asks import asks_of, numbered, values_of
from agentforge.pipeline.ledger.surroundings import in_context, lead_in
from agentforge.pipeline.model.stage import Json, items
from agentforge.pipeline.small_models.reading.request_parser import claims_of_clause
from agentforge.verification.examples import claims, claims_javascript
from agentforge.verification.examples.claims import Claim, outcome
from agentforge.verification.examples.prose import unbroken


def examples_of(request: str, start: int, end: int, reader: ModuleType) -> tuple[Claim, ...]:
    """Read the examples of a stretch of a request, one for each call and result, with what stands beside it there.

    Whether a result is asked for or only reported of today is not read from words: what the base gives tells it.

    Args:
        reader: `runners.claims` or `runners.claims_javascript`.
    """
    if "(" not in request[start:end]:
        return ()
    text = _unbroken(request)
    read = _read(text[start:end], reader)
    found: dict[tuple[str, str, str], Claim] = {}
    for claim in read:
        known = found.get(outcome(claim))
        if known is None or len(claim.beside) < len(known.beside):
            found[outcome(claim)] = claim
    ask = lead_in(text, start) + text[start:end]
    return tuple(in_context(claim, ask, read, reader) for claim in found.values())


def context_of(claim: Claim, request: str, asks: Sequence[LedgerEntry], reader: ModuleType) -> Claim:
    """The claim as it stands in the request, whoever copied it from there."""
    text = _unbroken(request)
    for entry in asks:
        ask = text[entry.start : entry.end]
        if claim.call in ask:
            claim = in_context(claim, lead_in(text, entry.start) + ask, _read(ask, reader), reader)
    return claim


def _read(text: str, reader: ModuleType) -> list[Claim]:
    """The claims of a stretch, and those that a sentence corrects: "gives 2 but should give 3" says both."""
    found = list(reader.claims_in(text))
    if reader is claims:
        found += [one for one in claims_of_clause(" ".join(text.split())) if not one.asked]
    return found


@lru_cache(maxsize=4)
def _unbroken(request: str) -> str:
    return unbroken(request)


_SHOWN = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One ask of the ledger.

    Attributes:
        number: from 1.
        start, end: offsets in the request.
        text: what stands there.
        kind: sentence, item, code or table.
        examples: {example, beside} of each call with a result; beside is the code that stands there, too, and may be needed for
            it. Logs of earlier versions have `tense`, too: observed = its words were taken for a report of today.
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
        """Its examples, but for those that an earlier version took for reports of today."""
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
        {"example": claim.text, **({"beside": list(claim.beside)} if claim.beside else {})}
        for claim in max(both, key=len)
    ]


def _whole(row: Mapping[str, object], name: str) -> int:
    return int(cast("int", row.get(name) or 0))
