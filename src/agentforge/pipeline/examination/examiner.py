"""When the examiner is asked, and what follows from what it expected. Pure; what is sent and run is in `examining.py`."""

from __future__ import annotations

from pathlib import PurePosixPath

from agentforge.agent.decide import decide_turn
from agentforge.agent.effects import CallModel, Effect, FinishStep
from agentforge.agent.limits import exhausted
from agentforge.canonical import digest_value
from agentforge.events.fold.judged import judged
from agentforge.events.fold.revisits import fact_key
from agentforge.events.kinds.choices import Choice, fixed
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.delivery.assumptions import open_readings
from agentforge.pipeline.examination.settlement import expected_of
from agentforge.pipeline.model.effects import Ask, Examine, Reopen, StartStage
from agentforge.pipeline.model.rollback import undone_from
from agentforge.pipeline.model.stage import Json, action_of, items, texts
from agentforge.workspace.code.relevance import is_test_path

_ACTIONS = ("create", "modify", "fix")
_JAVASCRIPT = frozenset({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"})
_ASKED_AT_MOST = 3


def examination(state: RunState, order: tuple[str, ...]) -> Effect | None:
    """What is left to do before the delivery; None when nothing is.

    Args:
        order: the names of all stages.
    """
    if not state.examiner or action_of(state) not in _ACTIONS or not language(state):
        return None
    known = state.facts.get(EXAMINE, {})
    if known.get("tree") != judged(state.trees, ""):
        return StartStage(stage=EXAMINE, attempt=(state.stages[EXAMINE].attempt if EXAMINE in state.stages else 0) + 1)
    return _against_the_tree(state, order) or _open_questions(state)


def examining(state: RunState) -> Effect:
    """The next effect of an examination that is under way: one call at most, then its examples are run."""
    turn = state.turn
    if turn.replied:
        return FinishStep(step=turn.step)
    asked = bool(turn.steps_in_attempt) and not turn.calling
    if asked or kept_rows(state) or not turn.material or exhausted(state):
        return Examine()
    effect = decide_turn(state)
    return effect if isinstance(effect, CallModel) else Examine()


def language(state: RunState) -> str:
    """The language of the changed product files in which examples can be run, "" = none."""
    suffixes = {PurePosixPath(path).suffix for path in changed_files(state)}
    return "python" if ".py" in suffixes else "javascript" if suffixes & _JAVASCRIPT else ""


def changed_files(state: RunState) -> list[str]:
    """The changed files of the product that are there."""
    facts = judged(state.facts, {})
    own = texts(facts.get("test_files"))
    found = [str(row.get("path")) for row in items(facts.get("changes")) if row.get("status") != "deleted"]
    return [path for path in found if path not in own and not is_test_path(path)]


def request_words(state: RunState) -> str:
    """All that the examiner may know of what is wanted: the request word for word, and a human's answers."""
    told = [
        f"{item.question} -> {item.resolution.text}"
        for item in state.escalations.values()
        if item.resolution is not None
        and item.kind == "question"
        and item.resolution.text.strip()
        and not str(item.context.get("key", "")).startswith(EXAMINE)
    ]
    return "\n".join([state.request, *(["", "Answers of a human:", *told] if told else [])])


def asked_digest(state: RunState) -> str:
    """Names the words that the examiner is given."""
    return digest_value(request_words(state))


def kept_rows(state: RunState) -> list[Json]:
    """The examples that an earlier examination of the same request has: they are run again, and nobody is asked again."""
    known = state.facts.get(EXAMINE, {})
    return items(known.get("rows")) if known.get("asked") == asked_digest(state) else []


def _against_the_tree(state: RunState, order: tuple[str, ...]) -> Effect | None:
    """GREEN is done again over results that the request states, once for each; then a human decides."""
    rows = [row for row in items(state.facts[EXAMINE].get("rows")) if row.get("verdict") == "contradicts"]
    findings = [_finding(row) for row in rows]
    new = tuple(one for one in findings if fact_key(one) not in state.sent_back)
    if new:
        undone = undone_from(state, "green", order)
        return Reopen(stage="green", by=EXAMINE, reason="belongs_here", findings=new, undone=undone)
    key = f"{EXAMINE}:contradicts:{state.facts[EXAMINE].get('tree')}"
    if not rows or _was_asked(state, key):
        return None
    told = "\n".join(
        f"- {row.get('call')} {expected_of(row)} by the request; it gives {row.get('got')}" for row in rows
    )
    return Ask(
        stage="deliver",
        kind="question",
        reason="the request states a result that the implementation does not give",
        question=f"What is right?\n{told}",
        context=(("key", key),),
        choices=(
            fixed("as implemented", "It is delivered as it is; the report names both results."),
            Choice(
                label="as the request says",
                then="The specification is written again with these results, and all that follows is measured again.",
                decision="answer",
                text="as the request says",
                reopen="spec",
            ),
        ),
    )


def _open_questions(state: RunState) -> Effect | None:
    """The readings that the request leaves open, as questions, where the settings want that."""
    if not state.examiner.get("asks"):
        return None
    rows = open_readings(state)[:_ASKED_AT_MOST]
    wanted = [_open_question(row) for row in rows]
    wanted = [one for one in wanted if not _was_asked(state, str(dict(one.context)["key"]))]
    if not wanted:
        return None
    first, *others = wanted
    from dataclasses import replace

    return replace(first, also=tuple(others))


def _open_question(row: Json) -> Ask:
    call, other = row.get("call"), expected_of(row)
    return Ask(
        stage="deliver",
        kind="question",
        reason="the request can be read in two ways",
        question=f"{call} gives {row.get('got')}. Who read the request alone expected that it {other}: {row.get('says')}",
        context=(("key", f"{EXAMINE}:open:{call}"),),
        choices=(
            fixed("as implemented", "It is delivered as it is."),
            Choice(
                label="the other reading",
                then="The specification is written again with this reading, and all that follows is measured again.",
                decision="answer",
                text=f"{call} {other}",
                reopen="spec",
            ),
        ),
    )


def _finding(row: Json) -> dict[str, object]:
    message = f"{row.get('call')} gives {row.get('got')}; by the request it {expected_of(row)}: {row.get('says')}"
    return {"stage": "green", "rule": "examined", "path": "", "message": message, "passed": False}


def _was_asked(state: RunState, key: str) -> bool:
    return any(item.context.get("key") == key for item in state.escalations.values())
