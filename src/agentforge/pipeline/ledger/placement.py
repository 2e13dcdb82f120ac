"""What has become of the asks of a run, and what a human says of those that the specification leaves out. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from agentforge.events.kinds.choices import OWN_WORDS, fixed
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.facts.examples import literals, stands_in, value_asserted_in
from agentforge.pipeline.ledger.asks import values_of
from agentforge.pipeline.ledger.entries import LedgerEntry, ledger_of
from agentforge.pipeline.ledger.mapping import Becomes, becomes_of, settled
from agentforge.pipeline.model.rollback import reopens
from agentforge.pipeline.model.stage import Json, StageQuestion, texts

DO_IT, LEAVE_IT = "do it after all", "leave it out"
_TRIES = 2
"""Times that the same ask is wanted again before leaving it out is the first thing that is offered."""
_KEY = "ask"
_UNPLACED = "asks-placed"
"""The rule that tells the model of an ask without a place."""


def placed(state: RunState, spec: Json | None = None) -> tuple[tuple[LedgerEntry, Becomes], ...]:
    """Each ask with what becomes of it.

    Args:
        spec: a draft of the specification; None = the one that has passed.
    """
    entries = ledger_of(state)
    artifact = state.work.artifacts.get("spec", {}) if spec is None else spec
    said = artifact.get("asks") if spec is None else settled(entries, artifact)[0]
    places = said if isinstance(said, Mapping) else {}
    return tuple((entry, becomes_of(places.get(str(entry.number)))) for entry in entries)


def left_out(state: RunState) -> frozenset[int]:
    """The numbers of the asks that a human left out."""
    last = {int(str(item.context[_KEY])): item for item in _asked(state)}
    return frozenset(
        number for number, item in last.items() if item.resolution is not None and item.resolution.text == LEAVE_IT
    )


def standing_examples(state: RunState, spec: Json | None = None) -> list[str]:
    """The examples of the request that the work has to satisfy: not those of asks that are not done.

    Args:
        spec: a draft of the specification, whose word counts until a human was asked.
    """
    gone = left_out(state)
    dropped = [
        entry
        for entry, becomes in placed(state, spec)
        if entry.number in gone or (spec is not None and becomes.how == "not_done")
    ]
    told = texts(state.work.artifacts.get("intake", {}).get("examples"))
    return [one for one in told if not any(stands_in(one, entry.text) for entry in dropped)]


def questions(state: RunState) -> tuple[StageQuestion, ...]:
    """Ask a human about what is not done, and about what holds something exact and has no place in the specification.

    Silence may be an oversight: the model hears of it first, as a finding, and a human only when it stays silent.
    """
    submission = state.review.submission
    if submission is None:
        return ()
    gone = left_out(state)
    told = any(item.get("rule") == _UNPLACED for item in state.review.findings)
    return tuple(
        _question(state, entry, becomes)
        for entry, becomes in placed(state, submission.draft)
        if entry.number not in gone
        and (becomes.how == "not_done" or (told and becomes.how == "unsaid" and entry.telling))
    )


def _question(state: RunState, entry: LedgerEntry, becomes: Becomes) -> StageQuestion:
    times = sum(item.context.get(_KEY) == entry.number for item in _asked(state))
    why = f"It says why: {becomes.reason}" if becomes.how == "not_done" else "It does not say why."
    do_it = fixed(DO_IT, "The model writes the specification again and includes it.")
    leave = fixed(LEAVE_IT, "The task continues without it, and the report says so.")
    words = replace(OWN_WORDS, then="The model writes the specification again with your words.")
    return StageQuestion(
        key=f"{_KEY}:{entry.number}:{times}",
        text=f"The specification leaves this part of the request out: {entry.words!r}. {why}",
        reason="the specification leaves out a part of the request",
        options=(DO_IT, LEAVE_IT),
        context=((_KEY, entry.number), reopens("spec", unless=LEAVE_IT)),
        choices=(leave, do_it, words) if times >= _TRIES else (do_it, leave, words),
    )


def _asked(state: RunState) -> Iterator[Escalation]:
    return (item for item in state.people.escalations.values() if _KEY in item.context)


def untold_values(state: RunState, sources: str) -> list[dict[str, object]]:
    """Which exact values of the asks that tests shall show stand in none of them: [{ask, values}].

    Args:
        sources: what `stated_in` gives of the test files.
    """
    rows: list[dict[str, object]] = []
    for entry, becomes in placed(state):
        if becomes.how == "requirements":
            exact = [one for one in literals(entry.text) if one in values_of(entry.text)]
            missing = [one for one in dict.fromkeys(exact) if not value_asserted_in(one, sources)]
            rows += [{"ask": entry.number, "values": missing}] if missing else []
    return rows
