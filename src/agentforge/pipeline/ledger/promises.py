"""The literal examples of the asks as held-out checks, and what becomes of one that held at the base and holds no more. Pure."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.events.kinds.choices import fixed
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.ledger.entries import Tense, examples_of, is_wanted_somewhere, ledger_of
from agentforge.pipeline.ledger.placing import left_out, placed
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.model.rollback import reopens
from agentforge.pipeline.model.stage import Json, items
from agentforge.verification.examples.claims import spelling

if TYPE_CHECKING:
    from types import ModuleType

    from agentforge.verification.examples.claims import Claim

WRONG_TODAY, STAYS = "it is what is wrong today", "it must stay"
_KEY = "stated"
_SPAN = re.compile(r"`([^`]+)`")
_GIVEN = re.compile(r"\bfor\s+`")
_SENTENCE_END = re.compile(r"[.;]\s|\n\n")


def doubtful(state: RunState) -> Ask | None:
    """Ask about the examples that nobody decided about; None where there are none, or the run has no ledger."""
    if not ledger_of(state):
        return None
    held_out = state.work.facts.get("green", {}).get("held_out")
    rows = items(held_out.get("complaints")) if isinstance(held_out, dict) else []
    wanted = [_question(row) for row in rows if not answered(state, str(row.get("call")))]
    return replace(wanted[0], also=tuple(wanted[1:])) if wanted else None


def answered(state: RunState, call: str) -> str:
    """What a human said of the example with this call; "" where nobody was asked."""
    found: list[Escalation] = [one for one in state.people.escalations.values() if one.context.get(_KEY) == call]
    return found[-1].resolution.text if found and found[-1].resolution is not None else ""


def _question(row: Json) -> Ask:
    call = str(row.get("call"))
    return Ask(
        stage="green",
        kind="question",
        reason="an example of the request held before the change, and no longer holds",
        question=f"The request says: {row.get('text')}. That was already so before the change, and no longer is. "
        "What does the sentence mean?",
        context=(("key", f"{_KEY}:{call}"), (_KEY, call), reopens("green", unless=WRONG_TODAY)),
        choices=(
            fixed(WRONG_TODAY, "The task continues, and the report names both results."),
            fixed(STAYS, "The model writes the implementation again, and this example has to hold."),
        ),
    )


def claims_of_asks(state: RunState, reader: ModuleType) -> tuple[Claim, ...]:
    """What the request itself says that calls give; not what it reports of today, and nothing of which a human spoke otherwise.

    A result that its words ask for is firm: that the base gives another one excuses nothing. One that it only states may turn out
    to be a report of today.

    Args:
        reader: `runners.claims` or `runners.claims_javascript`.
    """
    gone, spoken = left_out(state), _spoken(state)
    found: list[tuple[Claim, Tense]] = []
    for entry, becomes in placed(state):
        requirement = next(iter(becomes.requirements), "")
        for claim, tense in examples_of(state.brief.request, entry.start, entry.end, reader):
            if not stands_alone(claim.call, state.brief.request[entry.start : entry.end]):
                continue
            if tense != "observed" and entry.number not in gone and _squeezed(claim.call) not in spoken:
                found.append((replace(claim, requirement=requirement, asked=True), tense))
    wanted = {spelling(claim.call) for claim, tense in found if tense == "wanted"}
    return tuple(
        replace(claim, firm=tense == "wanted" or answered(state, claim.call) == STAYS)
        for claim, tense in found
        if tense == "wanted"
        or (spelling(claim.call) not in wanted and not is_wanted_somewhere(state.brief.request, claim.call))
    )


def stands_alone(call: str, ask: str) -> bool:
    """Whether an example can be tried as it stands: "after `open(1)`, `f(2)` is 3" and "`f(2)` gives 3 for `[4]`" cannot."""
    before, _, after = ask.partition(call)
    if _GIVEN.search(_SENTENCE_END.split(after, maxsplit=1)[0]):
        return False
    named = {name for span in _SPAN.findall(before) if (name := _called(span))}
    return not named - {_first_name(call)}


def _called(span: str) -> str:
    """The first name of a call with literal arguments alone, "" of everything else, such as a signature."""
    try:
        tree = ast.parse(span.strip(), mode="eval").body
        if not isinstance(tree, ast.Call):
            return ""
        for value in (*tree.args, *(one.value for one in tree.keywords)):
            ast.literal_eval(value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return _first_name(span.strip())


def _first_name(code: str) -> str:
    found = re.match(r"[A-Za-z_$][\w$]*", code)
    return found[0] if found else ""


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
