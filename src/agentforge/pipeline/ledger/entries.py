"""The ledger as INTAKE records it: each ask with its text and its literal examples. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.ledger.asks import asks_of, numbered, values_of
from agentforge.pipeline.ledger.reading import examples_of
from agentforge.pipeline.model.stage import Json, items
from agentforge.verification.examples import claims, claims_javascript

_SHOWN = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One ask of the ledger.

    Attributes:
        number: from 1.
        start, end: offsets in the request.
        text: what stands there.
        kind: sentence, item, code or table.
        examples: {example, tense} of each call with its result; tense is wanted, plain or observed (reported of today).
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


def ledger_of(state: RunState) -> tuple[Entry, ...]:
    """The ledger that INTAKE recorded; () in the logs of earlier versions and on the roads that have none."""
    return entries_in(state.artifacts.get("intake", {}))


def entries_in(intake: Json) -> tuple[Entry, ...]:
    """The ledger of an intake record."""
    return tuple(
        Entry(
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
    return numbered(state.request, [(entry.number, entry.start) for entry in ledger_of(state)])


def _examples(request: str, start: int, end: int) -> list[dict[str, object]]:
    """The examples in the language that reads most of them."""
    if "(" not in request[start:end]:
        return []

    both = [examples_of(request, start, end, reader) for reader in (claims, claims_javascript)]
    return [{"example": claim.text, "tense": tense} for claim, tense in max(both, key=len)]


def _whole(row: Mapping[str, object], name: str) -> int:
    return int(cast("int", row.get(name) or 0))
