"""The literal examples of the asks as held-out checks, and what becomes of those that fail and may mean something else. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from agentforge.events.fold.delivered import judged
from agentforge.events.kinds.choices import fixed
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.ledger.entries import examples_of, ledger_of
from agentforge.pipeline.ledger.placement import left_out, placed
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.model.rollback import reopens
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.verification.examples.claims import Claim

WRONG_TODAY, STAYS = "it is what is wrong today", "it must stay"
NOT_ALONE, ALONE = "it needs what stands beside it", "it must hold by itself"
OTHER_RESULT = "the other result is right"
_KEY, _EXAMPLE = "stated", "example"


def undecided_examples(state: RunState) -> list[Json]:
    """The examples of the request that fail in GREEN's tree, and of which no measurement says whether the request demands that.

    They are those that held at the base, and those beside which other code stands. Left out is what a human was asked about, and
    what held at the base where the request names the new result close to it: it speaks of both, so the first is a report.
    """
    held_out = judged(state.work.facts, {}).get("held_out") if ledger_of(state) else None
    rows = (
        [*items(held_out.get("complaints")), *items(held_out.get("conditional"))] if isinstance(held_out, dict) else []
    )
    return [row for row in rows if not answered(state, str(row.get("call"))) and not _corrected(state, row)]


_NEAR = 2
"""Asks before and behind the one with a call in which its other result may stand."""


def _corrected(state: RunState, row: Json) -> bool:
    """Whether the base gave what an example says, and the request names what the tree gives now close to it."""
    got = str(row.get("got") or "")
    if row.get("before") != "passed" or not got:
        return False
    asks = [entry.text for entry in ledger_of(state)]
    places = [number for number, text in enumerate(asks) if str(row.get("call")) in text]
    near = [text for place in places for text in asks[max(0, place - _NEAR) : place + _NEAR + 1]]
    said = "\n".join(near).replace(str(row.get("call")), " ")
    named = re.escape(got.strip("'\""))
    return re.search(rf"(?<![\w.]){named}(?![\w.]*\w)", said) is not None


def doubtful(state: RunState, rows: Sequence[Json], *, stage: str) -> Ask | None:
    """Ask a human about examples that nobody decided about; None where there are none.

    Args:
        rows: of `undecided_examples`.
        stage: at which the run waits for the answer.
    """
    wanted = [_question(row, stage) for row in rows if not answered(state, str(row.get("call")))]
    return replace(wanted[0], also=tuple(wanted[1:])) if wanted else None


def answered(state: RunState, call: str, *, example: str = "") -> str:
    """What a human said of the example with this call; "" where nobody was asked.

    Args:
        example: only what was said of this one of several examples of the call.
    """
    found: list[Escalation] = [
        one
        for one in state.people.escalations.values()
        if one.context.get(_KEY) == call
        and one.context.get(_EXAMPLE, example) in ("", example or one.context.get(_EXAMPLE))
    ]
    return found[-1].resolution.text if found and found[-1].resolution is not None else ""


def _question(row: Json, stage: str) -> Ask:
    call, beside = str(row.get("call")), texts(row.get("beside"))
    held = row.get("before", "passed") == "passed"  # earlier versions kept no others
    reason = "an example of the request held before the change, and no longer holds"
    told, drops, keeps = "That was already so before the change, and no longer is.", WRONG_TODAY, STAYS
    if not held:
        reason = "an example of the request does not hold by itself, and no measurement says whether it has to"
        named = f"The request also names {', '.join(map(repr, beside))} beside it."
        told, drops, keeps = named if beside else "The code gave another result twice.", NOT_ALONE, ALONE
    if row.get("otherwise"):
        reason = "the request gives one call two results, and neither is today's"
        told, drops = "The request gives this call another result, too, and the code gives that.", OTHER_RESULT
    return Ask(
        stage=stage,
        kind="question",
        reason=reason,
        question=f"The request says: {row.get('text')}. {told} Which do you mean?",
        context=(
            ("key", f"{_KEY}:{call}"),
            (_KEY, call),
            (_EXAMPLE, row.get("example", "")),
            reopens("green", unless=drops),
        ),
        choices=(
            fixed(drops, "The task continues, and the report names both results."),
            fixed(keeps, "The model writes the implementation again, and this example has to hold."),
        ),
    )


def claims_of_asks(state: RunState, reader: ModuleType) -> tuple[Claim, ...]:
    """What the request itself says that calls give; nothing of which a human spoke otherwise.

    What fails now and held at the base may be a report of today, what fails beside other code may need that, and what fails for
    the second time may have been misread here: a reader of the request decides about these, or a human where nobody reads it.

    Args:
        reader: `runners.claims` or `runners.claims_javascript`.
    """
    gone, spoken = left_out(state), _spoken(state)
    return tuple(
        decided(state, replace(claim, requirement=next(iter(becomes.requirements), ""), asked=True))
        for entry, becomes in placed(state)
        if entry.number not in gone
        for claim in examples_of(state.brief.request, entry.start, entry.end, reader)
        if _squeezed(claim.call) not in spoken
    )


def decided(state: RunState, claim: Claim) -> Claim:
    """The claim as a human decided about it, or with what the last attempt made of it.

    One that must hold is firm, and what stands beside it excuses nothing.
    """
    if answered(state, claim.call, example=claim.text) in (STAYS, ALONE):
        return replace(claim, firm=True, beside=(), steps="")
    return replace(claim, insisted=claim.call in _failed_before(state))


def _failed_before(state: RunState) -> frozenset[str]:
    """The calls whose examples the last measured tree failed, where somebody will read the request before the delivery."""
    measured = [facts.get("held_out") for facts in state.work.facts.values()]
    found = [one for one in measured if isinstance(one, dict) and state.brief.examiner]
    rows = [row for one in found for name in ("failed", "conditional") for row in items(one.get(name))]
    return frozenset(str(row.get("call")) for row in rows)


def _spoken(state: RunState) -> str:
    """The words of humans on questions of other kinds than whether an example stays."""
    told = [
        item.resolution.text
        for item in state.people.escalations.values()
        if item.resolution and item.kind != "approval"
    ]
    return _squeezed("\n".join(told))


def _squeezed(text: str) -> str:
    return "".join(text.split()).replace('"', "'")
