"""What a delivery rests on and nobody said: the readings of the request that CLARIFY and SPEC took, as one list. Pure."""

from __future__ import annotations

from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.ledger.shown import left_to_see
from agentforge.pipeline.model.stage import Json, items

_SPECIFIED = ("spec",)
"""The stages whose model writes the specification."""
_EARLY = ("clarify", "analyze", *_SPECIFIED)
_READINGS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """A reading of the request that somebody could have meant otherwise.

    Attributes:
        question: what the request leaves open.
        taken: what was assumed.
        alternative: what it could mean instead, "" where nothing was named.
    """

    question: str
    taken: str
    alternative: str = ""

    @property
    def line(self) -> str:
        """The assumption in one line."""
        other = f" (it could mean: {self.alternative})" if self.alternative else ""
        return f"{self.question} -> {self.taken}{other}"


def assumptions(state: RunState) -> list[Assumption]:
    """List what was assumed, first what has another reading that gives something else; nothing that a human has overruled.

    Once a human's words have reached SPEC, its list is the whole one: the model wrote it with those words before it, and what
    CLARIFY had assumed and SPEC does not name any more was overruled.
    """
    questions = items(state.work.artifacts.get("clarify", {}).get("questions"))
    of_spec = [_of_spec(row) for row in items(state.work.artifacts.get("spec", {}).get("assumptions"))]
    of_clarify = [_of_clarify(row) for row in questions if row.get("source") == "assumption"]
    if words_for_spec(state):
        named = {_key(one.question) for one in of_spec}
        of_clarify = [one for one in of_clarify if _key(one.question) in named]
    answered = {_key(row.get("question")) for row in questions if row.get("source") == "human_escalation"}
    found: dict[str, Assumption] = {}
    for one in (*of_clarify, *of_spec):
        known = found.get(_key(one.question))
        if _key(one.question) not in answered and (known is None or not known.alternative):
            found[_key(one.question)] = one
    of_asks = [Assumption(question=question, taken=taken) for question, taken in left_to_see(state)]
    ordered = sorted(found.values(), key=lambda one: not one.alternative)
    return [*ordered, *of_asks, *map(_of_examiner, open_readings(state))]


def open_readings(state: RunState) -> list[Json]:
    """The tests of an examiner who saw the request alone that fail, and about which nobody decided."""
    rows = items(state.work.facts.get(EXAMINE, {}).get("rows"))
    asked = {item.context.get("key") for item in state.people.escalations.values() if item.resolution is not None}
    found = [row for row in rows if row.get("verdict") in ("open", "contradicts")]
    left = [row for row in found if f"{EXAMINE}:open:{row.get('test')}" not in asked]
    return sorted(left, key=lambda row: row.get("verdict") == "open")[:_READINGS]


def _of_examiner(row: Json) -> Assumption:
    why = str(row.get("why") or "").strip()
    return Assumption(
        question=f'What "{row.get("says")}" means{f": {why}" if why else ""}',
        taken=f"as implemented ({row.get('got')})",
        alternative=f"what this test expects, which was written from the request alone:\n{row.get('code')}",
    )


def words_for_spec(state: RunState) -> bool:
    """Whether a human's words were before the model that wrote the specification: an answer there, a rejection, a way back."""
    for item in state.people.escalations.values():
        answer = item.resolution
        if answer is None or not answer.text.strip():
            continue
        if answer.reopen in _EARLY or (item.stage in _SPECIFIED and answer.decision in ("answer", "reject")):
            return True
    return False


def _of_spec(row: Json) -> Assumption:
    return Assumption(
        question=str(row.get("reading", "")),
        taken=str(row.get("assumption", "")),
        alternative=str(row.get("alternative") or ""),
    )


def _of_clarify(row: Json) -> Assumption:
    """The readings beside the one that was taken are what it could mean instead."""
    taken = str(row.get("answer", ""))
    others = [
        f"{one.get('reading')}: {one.get('input')} gives {one.get('result')}"
        if one.get("input")
        else str(one.get("reading"))
        for one in items(row.get("readings"))
        if _key(one.get("reading")) not in _key(taken)
    ]
    return Assumption(question=str(row.get("question", "")), taken=taken, alternative="; ".join(others))


def _key(text: object) -> str:
    return " ".join(str(text).lower().split()).rstrip("?.! ")
