"""The literal examples of the asks as held-out checks, and what becomes of those that fail and may mean something else. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import ModuleType

from agentforge.events.fold.delivered import judged
from agentforge.events.kinds.choices import fixed
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.ledger.entries import examples_of, ledger_of
from agentforge.pipeline.ledger.nearness import groups_in
from agentforge.pipeline.ledger.placement import left_out, placed
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.model.rollback import reopens
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.near_results import NearGroup

WRONG_TODAY, STAYS = "it is what is wrong today", "it must stay"
NOT_ALONE, ALONE = "it needs what stands beside it", "it must hold by itself"
OTHER_RESULT = "the other result is right"
RIGHT = "yes, it is right"
_OFFERED = 3
"""Values that are offered as the result of a call."""
_KEY, _EXAMPLE = "stated", "example"


def undecided_examples(state: RunState) -> list[Json]:
    """The examples of the request that fail in GREEN's tree, and of which no measurement says whether the request demands that.

    They are those that held at the base, those beside which other code stands, and calls whose result may be another one that
    stands near them (`verification.examples.near_results`). Left out is what a human was asked about, and
    what held at the base where the request names the new result close to it: it speaks of both, so the first is a report.
    """
    held_out = judged(state.work.facts, {}).get("held_out") if ledger_of(state) else None
    if not isinstance(held_out, dict):
        return []
    rows = [*items(held_out.get("complaints")), *items(held_out.get("conditional"))]
    calls = {_squeezed(str(row.get("call"))) for row in rows}
    rows += [row for row in items(held_out.get("near")) if _squeezed(str(row.get("call"))) not in calls]
    return [row for row in rows if not answered(state, key_of(row)) and not _corrected(state, row)]


def key_of(row: Json) -> str:
    """Names an example that is undecided: its call, and the value that stands near it where nothing else was read."""
    near = items(row.get("near"))
    return f"{row.get('call')} near {near[0].get('value')}" if near else str(row.get("call"))


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
    said = "\n".join(near).replace(str(row.get("call")), " ").replace('"', "'")
    named = re.escape(got.replace('"', "'").strip("'"))
    return re.search(rf"(?<![\w.]){named}(?![\w.]*\w)", said) is not None


def doubtful(state: RunState, rows: Sequence[Json], *, stage: str) -> Ask | None:
    """Ask a human about examples that nobody decided about; None where there are none.

    Args:
        rows: of `undecided_examples`.
        stage: at which the run waits for the answer.
    """
    wanted = [
        _question_near(row, stage) if row.get("near") else _question(row, stage)
        for row in rows
        if not answered(state, key_of(row))
    ]
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


def _question_near(row: Json, stage: str) -> Ask:
    """Which of the values that stand near a call is its result: each is an answer."""
    key, near = key_of(row), items(row.get("near"))[:_OFFERED]
    was = f", and gave {row.get('was')} before the change" if row.get("was") else ""
    return Ask(
        stage=stage,
        kind="question",
        reason="a value stands near a call of the request, and the call gives another one",
        question=f"The request says: {row.get('example')!r}. {row.get('call')} gives {row.get('got')} now{was}. Is that right?",
        context=(
            ("key", f"{_KEY}:{key}"),
            (_KEY, key),
            (_EXAMPLE, row.get("example", "")),
            ("near", near),
            ("source", row.get("source")),
            reopens("green", unless=RIGHT),
        ),
        choices=(
            fixed(RIGHT, "The task continues, and the report names both."),
            *(
                fixed(_must(one), "The model writes the implementation again, and this result has to come.")
                for one in near
            ),
        ),
    )


def _must(value: Json) -> str:
    return f"it must {'raise' if value.get('kind') == 'error' else 'give'} {value.get('value')}"


def chosen_results(state: RunState) -> Iterator[Claim]:
    """The results that a human chose among the values near a call."""
    for one in state.people.escalations.values():
        for value in items(one.context.get("near")):
            if one.resolution is not None and one.resolution.text == _must(value):
                source, result = str(one.context.get("source")), str(value.get("value"))
                returns, raises = ("", result) if value.get("kind") == "error" else (result, "")
                yield Claim(call=source, returns=returns, raises=raises, asked=True, firm=True)


def near_groups(state: RunState, reader: ModuleType) -> list[NearGroup]:
    """The calls of the request with what stands near them; nothing that a human left out or spoke of otherwise.

    Args:
        reader: `claims` or `claims_javascript`.
    """
    gone, spoken = left_out(state), _spoken(state)
    left = [entry for entry in ledger_of(state) if entry.number in gone]
    return [
        group
        for group in groups_in(state.brief.request, reader)
        if not any(entry.start <= group.start < entry.end for entry in left)
        and not any(_squeezed(one.text) in spoken for one in group.calls)
    ]


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
