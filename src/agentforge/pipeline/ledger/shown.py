"""The ledger as people and later stages see it: the asks beside their requirements, and what nobody may overlook. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.facts.inspection import inert_words
from agentforge.pipeline.ledger.entries import LedgerEntry
from agentforge.pipeline.ledger.mapping import Becomes
from agentforge.pipeline.ledger.placement import left_out, placed
from agentforge.pipeline.model.prompt_text import holds
from agentforge.pipeline.model.stage import Json, action_of, items
from agentforge.tokens import cut_middle

ASKS = "what the request itself says (it wins where the specification says less or something else)"
NOBODY = "nobody says what becomes of it; it counts as not done"
_ASK_TOKENS, _EXACT_TOKENS = 200, 1200
"""What is shown of an ask; one with examples, code or a table is whole, unless it alone would fill a step."""


def asked_text(state: RunState, *, above: str = "") -> str:
    """The asks beside their requirements, in the request's own words; what asks for nothing is left out.

    Args:
        above: what is shown already: an ask that stands there word for word is not repeated.
    """
    return "\n".join(
        f"- {', '.join(becomes.requirements)}: {cut_middle(entry.text, limit=_EXACT_TOKENS if entry.telling else _ASK_TOKENS)}"
        for entry, becomes in placed(state)
        if becomes.how == "requirements" and not (above and holds(above, entry.text))
    )


def left_to_see(state: RunState) -> Iterator[tuple[str, str]]:
    """What stands beside the assumptions: (part of the request, what was made of it).

    Context is told where it holds something exact; what the specification does not place, and a fix before which nothing failed,
    always.
    """
    gone = left_out(state)
    for entry, becomes in placed(state) if "spec" in state.work.artifacts else ():
        said = f"The request says {entry.words!r}"
        if becomes.how == "unsaid" and entry.number not in gone:
            yield said, NOBODY
        elif becomes.how == "context" and entry.telling:
            yield said, "context: nothing was done for it"
    if action_of(state) == "fix" and (words := inert_words(state)):
        yield "What failed before this fix and passes after it", f"nothing: {words}"


def asks_traced(state: RunState, facts: Json) -> list[dict[str, object]]:
    """Ask -> what becomes of it -> tests -> number of changed lines that these executed.

    Args:
        facts: of the delivered tree.
    """
    mapping = state.work.artifacts.get("red", {}).get("coverage_mapping")
    tests = mapping if isinstance(mapping, Mapping) else {}
    values = {row.get("ask"): row.get("values") for row in items(state.work.facts.get("red", {}).get("asks"))}
    gone = left_out(state)
    return [_row(entry, becomes, tests, facts, values.get(entry.number), gone) for entry, becomes in placed(state)]


def ask_lines(state: RunState) -> list[str]:
    """Each ask of a run in a line: what becomes of it, its tests, its executed lines; [] for a single one, and before SPEC."""
    rows = asks_traced(state, judged(state.work.facts, {})) if "spec" in state.work.artifacts else []
    return [_line(row) for row in rows] if len(rows) > 1 else []


def _line(row: Json) -> str:
    tests = row.get("tests")
    count = len(tests) if isinstance(tests, list) else 0
    shown = f" <- {count} test{'s' if count != 1 else ''}" if isinstance(tests, list) else ""
    lines = row.get("lines")
    executed = f", {lines} changed line{'s' if lines != 1 else ''} executed" if lines is not None else ""
    return f"{row.get('number')} {row.get('text')} -> {row.get('becomes')}{shown}{executed}"


def _row(
    entry: LedgerEntry,
    becomes: Becomes,
    tests: Mapping[str, object],
    facts: Json,
    missing: object,
    gone: frozenset[int],
) -> dict[str, object]:
    row: dict[str, object] = {"number": entry.number, "text": entry.words, "becomes": _becomes(entry, becomes, gone)}
    if becomes.how == "requirements" and entry.number not in gone:
        named = [test for one in becomes.requirements for test in _names(tests.get(one))]
        row |= {"tests": list(dict.fromkeys(named)), "lines": _executed(becomes.requirements, facts)}
        if isinstance(missing, list) and missing:
            row["note"] = f"stands in no test: {', '.join(str(one) for one in missing)}"
    return row


def _becomes(entry: LedgerEntry, becomes: Becomes, gone: frozenset[int]) -> str:
    if entry.number in gone:
        return "left out, as a human said"
    if becomes.how == "requirements":
        return ", ".join(becomes.requirements)
    return {"context": "context", "unsaid": NOBODY}.get(becomes.how) or f"not done: {becomes.reason}"


def _names(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, (list, tuple)) else []


def _executed(requirements: tuple[str, ...], facts: Json) -> int | None:
    """How many changed lines the tests of some requirements executed; None where that was not measured."""
    coverage = facts.get("coverage")
    if not isinstance(coverage, Mapping) or coverage.get("measured") is not True:
        return None
    lines: dict[str, set[int]] = {}
    for row in items(coverage.get("requirements")):
        if str(row.get("id")) in requirements:
            for test in items(row.get("tests")):
                for part in items(test.get("changes")):
                    lines.setdefault(str(part.get("path")), set()).update(_numbers(str(part.get("lines"))))
    return sum(len(found) for found in lines.values())


def _numbers(ranges: str) -> Iterator[int]:
    for part in ranges.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal():
            yield from range(int(first), int(last if last.isdecimal() else first) + 1)
