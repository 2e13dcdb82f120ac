"""When the examiner is asked, and what follows from what its tests showed. Pure; what is sent and run is in `examiner_run.py`.

write    the examiner writes a test file; one that cannot be run is sent back to it once, with what the runner said
settle   a second reader of the request decides about the tests that fail, and about its examples that fail where the request may
         mean something else (`ledger.promises.undecided_examples`)
rerun    the tree was changed since: the same file is run again, and nobody is asked
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from agentforge.agent import CallModel, Effect, FinishStep, decide_turn, exhausted
from agentforge.canonical import digest_value
from agentforge.events.fold.delivered import judged
from agentforge.events.fold.revisits import fact_key
from agentforge.events.kinds.choices import Choice, fixed
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.delivery.assumptions import open_readings
from agentforge.pipeline.examination.settlement import disputed, example_name
from agentforge.pipeline.ledger.promises import doubtful, undecided_examples
from agentforge.pipeline.model.effects import Ask, Examine, Reopen, StartStage
from agentforge.pipeline.model.rollback import EXAMINED, undone_from
from agentforge.pipeline.model.stage import Json, action_of, items, texts
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of

Phase = Literal["write", "settle", "rerun"]

_ACTIONS = ("create", "modify", "fix", "refactor", "delete")
_ASKED_AT_MOST = 3
_REPAIRS = 1


def examination(state: RunState, order: tuple[str, ...]) -> Effect | None:
    """What is left to do before the delivery; None when nothing is.

    Args:
        order: the names of all stages.
    """
    if not is_examined(state):
        return doubtful(state, undecided_examples(state), stage="deliver")
    known = state.work.facts.get(EXAMINE, {})
    if known.get("tree") != judged(state.work.trees, "") or (not known.get("reason") and phase(state) != "rerun"):
        return StartStage(
            stage=EXAMINE,
            attempt=(state.progress.stages[EXAMINE].attempt if EXAMINE in state.progress.stages else 0) + 1,
        )
    return _against_the_tree(state, order) or _unread_examples(state) or _open_questions(state)


def is_examined(state: RunState) -> bool:
    """Whether somebody who sees the request alone is asked before the delivery."""
    return bool(state.brief.examiner) and action_of(state) in _ACTIONS and bool(changed_files(state))


def examining(state: RunState) -> Effect:
    """The next effect of an examination that is under way: one call at most, then what it is for."""
    turn = state.progress.turn
    if turn.replied:
        return FinishStep(step=turn.step)
    asked = bool(turn.steps_in_attempt) and not turn.calling
    if asked or phase(state) == "rerun" or not turn.material or exhausted(state):
        return Examine()
    effect = decide_turn(state)
    return effect if isinstance(effect, CallModel) else Examine()


def phase(state: RunState) -> Phase:
    """What comes next of an examination."""
    known = state.work.facts.get(EXAMINE, {})
    if known.get("asked") != asked_digest(state) or not known.get("source"):
        return "write"
    if known.get("unrunnable"):
        return "write" if int(str(known.get("repairs", 0))) <= _REPAIRS else "rerun"
    same = known.get("tree") == judged(state.work.trees, "")
    return "settle" if same and disputed(kept_rows(state)) else "rerun"


def changed_files(state: RunState) -> list[str]:
    """The changed source files of the product that are there."""
    facts = judged(state.work.facts, {})
    own = texts(facts.get("test_files"))
    found = [str(row.get("path")) for row in items(facts.get("changes")) if row.get("status") != "deleted"]
    return [path for path in found if path not in own and not is_test_path(path) and language_of(path)]


def request_words(state: RunState) -> str:
    """All that the examiner may know of what is wanted: the request word for word, and a human's answers."""
    told = [
        f"{item.question} -> {item.resolution.text}"
        for item in state.people.escalations.values()
        if item.resolution is not None
        and item.kind == "question"
        and item.resolution.text.strip()
        and not str(item.context.get("key", "")).startswith(EXAMINE)
    ]
    return "\n".join([state.brief.request, *(["", "Answers of a human:", *told] if told else [])])


def asked_digest(state: RunState) -> str:
    """Names the words that the examiner is given."""
    return digest_value(request_words(state))


def kept_rows(state: RunState) -> list[Json]:
    """The tests of an earlier examination of the same request, as they were settled."""
    known = state.work.facts.get(EXAMINE, {})
    return items(known.get("rows")) if known.get("asked") == asked_digest(state) else []


def _against_the_tree(state: RunState, order: tuple[str, ...]) -> Effect | None:
    """GREEN is done again over results that the request states, once for each; then a human decides."""
    rows = [row for row in items(state.work.facts[EXAMINE].get("rows")) if row.get("verdict") == "contradicts"]
    findings = [_finding(row) for row in rows]
    new = tuple(one for one in findings if fact_key(one) not in state.review.sent_back)
    if new:
        undone = undone_from(state, "green", order)
        return Reopen(stage="green", by=EXAMINE, reason="belongs_here", findings=new, undone=undone)
    key = f"{EXAMINE}:contradicts:{state.work.facts[EXAMINE].get('tree')}"
    if not rows or _was_asked(state, key):
        return None
    told = "\n\n".join(f"{told_of(row)}\n\n{row.get('code')}" for row in rows)
    return Ask(
        stage="deliver",
        kind="question",
        reason="a test that was written from the request alone fails, and a second reader says that the request demands it",
        question=f"What is right?\n\n{told}",
        context=(("key", key),),
        choices=(
            fixed("as implemented", "AgentForge delivers the work as it is, and the report names the tests that fail."),
            Choice(
                label="as the test says",
                then="The model writes the specification again with what these tests demand, and what follows is measured again.",
                decision="answer",
                text="as the tests of the examiner say",
                reopen="spec",
            ),
        ),
    )


def _unread_examples(state: RunState) -> Effect | None:
    """The examples about which the second reader said nothing, as questions: they are the user's own words."""
    rows = items(state.work.facts[EXAMINE].get("rows"))
    read = {row.get("test") for row in rows if row.get("ruled") and not row.get("unread")}
    left = [row for row in undecided_examples(state) if example_name(row) not in read]
    return doubtful(state, left, stage="deliver")


def _open_questions(state: RunState) -> Effect | None:
    """The readings that the request leaves open, as questions, where the settings want that."""
    if not state.brief.examiner.get("asks"):
        return None
    rows = open_readings(state)[:_ASKED_AT_MOST]
    wanted = [_open_question(row) for row in rows]
    wanted = [one for one in wanted if not _was_asked(state, str(dict(one.context)["key"]))]
    if not wanted:
        return None
    first, *others = wanted
    return replace(first, also=tuple(others))


def _open_question(row: Json) -> Ask:
    return Ask(
        stage="deliver",
        kind="question",
        reason="the request can be read in two ways",
        question=f"A reader who saw only your request wrote a test that fails. {told_of(row)}\n\n{row.get('code')}",
        context=(("key", f"{EXAMINE}:open:{row.get('test')}"),),
        choices=(
            fixed("as implemented", "AgentForge delivers the work as it is."),
            Choice(
                label="the other reading",
                then="The model writes the specification again with this reading, and AgentForge measures what follows again.",
                decision="answer",
                text=f"This has to hold:\n{row.get('code')}",
                reopen="spec",
            ),
        ),
    )


def told_of(row: Json) -> str:
    """Say in a sentence or two what a test that fails demands, by which words, and what was measured."""
    why = str(row.get("why") or "").strip().rstrip(".")
    before = " Before the change it passed." if row.get("before") == "passed" else ""
    return f'"{row.get("says")}"{f" ({why})" if why else ""}. Measured: {row.get("got")}.{before}'


def _finding(row: Json) -> dict[str, object]:
    what = "An example of the request" if row.get("example") else "A test that was written from the request alone"
    told = f"{what} fails, and the request demands it. {told_of(row)}\n{row.get('code')}"
    return {"stage": "green", "rule": EXAMINED, "path": "", "message": told, "passed": False}


def _was_asked(state: RunState, key: str) -> bool:
    return any(item.context.get("key") == key for item in state.people.escalations.values())
