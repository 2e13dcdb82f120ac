"""CLARIFY: open questions settled by checked evidence, by recorded assumptions, or by a human."""

from __future__ import annotations

from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.facts.examples import stands_in
from agentforge.pipeline.model.stage import ACTIONS, Json, Stage, StageQuestion, items

_TWO = 2


def needs_model(state: RunState) -> bool:
    """Only questions of some weight are worth a search; minor ones take their default, and what a human said needs none."""
    return any(item.get("impact") != "minor" for item in ambiguities(state)) or bool(state.review.findings)


def draft(state: RunState) -> dict[str, object]:
    """Every minor question answered by its default."""
    return {"questions": [_assumed(item) for item in ambiguities(state)]}


def questions(state: RunState) -> tuple[StageQuestion, ...]:
    """What a human must settle: by impact, readings and mode, unless the answer's evidence was checked."""
    return tuple(_question(item, answer) for item, answer in _paired(state) if not _why_not_asked(state, item, answer))


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """One entry per ambiguity, and one for each time that a human spoke of them all.

    Human answers win over inference, inference counts only with checked evidence, and what is assumed says why nobody was asked.
    """
    rows = [_answered(state, item, answer) for item, answer in _paired(state)]
    return {"questions": [*rows, *(_said(item) for item in mentioned(state))]}


def mentioned(state: RunState) -> list[Escalation]:
    """How a human spoke of the whole clarification: he had it done again, or refused it."""
    return [
        item
        for item in state.people.escalations.values()
        if item.resolution is not None and item.resolution.text.strip()
        and (item.resolution.reopen == "clarify" or _refused(item))
    ]  # fmt: skip


def _refused(item: Escalation) -> bool:
    answer = item.resolution
    return item.stage == "clarify" and item.kind == "approval" and answer is not None and answer.decision == "reject"


def _said(item: Escalation) -> dict[str, object]:
    assert item.resolution is not None
    return {
        "question": f"{item.question} ({item.escalation_id})",
        "impact": "significant",
        "source": "human_escalation",
        "answer": item.resolution.text,
        "confidence": 1.0,
        "resolved_by": item.resolution.by,
        "resolved_at": item.resolved_at,
    }


def _question(item: Json, answer: Json) -> StageQuestion:
    """The question with its readings, each of them an answer."""
    key, impact = str(item.get("question", "")), item.get("impact", "significant")
    default = str(item.get("default") or answer.get("answer") or "")
    told = [reading_text(row) for row in items(item.get("readings"))]
    options = told if len(told) > 1 else [default] if default else []
    return StageQuestion(
        key=key,
        text=key,
        reason=f"{impact} ambiguity in {item.get('area', 'the request')}; the repository does not settle it",
        options=tuple(dict.fromkeys(options)),
    )


def reading_text(row: Json) -> str:
    """A reading of the request with what it gives: `words are kept: f('a b') gives 'a b'`."""
    shown = f": {row.get('input')} gives {row.get('result')}" if row.get("input") else ""
    return f"{row.get('reading', '')}{shown}"


def ambiguities(state: RunState) -> list[Json]:
    """The ambiguities of the intake record."""
    return items(state.work.artifacts.get("intake", {}).get("identified_ambiguities"))


def _paired(state: RunState) -> list[tuple[Json, Json]]:
    """Each ambiguity with the draft's entry for it: by text, else by position if that entry answers no other ambiguity."""
    submission = state.review.submission
    given = items(submission.draft.get("questions")) if submission else []
    by_text = {_key(item.get("question")): item for item in given}
    asked = {_key(item.get("question")) for item in ambiguities(state)}
    pairs: list[tuple[Json, Json]] = []
    for position, item in enumerate(ambiguities(state)):
        here = given[position] if position < len(given) else {}
        by_place = {} if _key(here.get("question")) in asked else here
        pairs.append((item, by_text.get(_key(item.get("question")), by_place)))
    return pairs


def _key(text: object) -> str:
    return " ".join(str(text).lower().split())


def _proved(state: RunState, answer: Json) -> bool:
    """The answer is an inference and all of its evidence stands in the files at the base commit."""
    facts = state.review.submission.facts if state.review.submission else None
    checked = [row for row in items((facts or {}).get("evidence")) if row.get("question") == answer.get("question")]
    return answer.get("source") == "agent_inference" and bool(checked) and all(row.get("ok") for row in checked)


def _why_not_asked(state: RunState, item: Json, answer: Json) -> str:
    """Why no human settles a question; "" where one does.

    Where nobody waits for questions a human is asked only what blocks, or where the request itself names an input on which two
    readings of it differ, and does not say which result is right.
    """
    if _proved(state, answer):
        return "the repository settles it"
    impact = item.get("impact", "significant")
    if impact == "blocking" or answer.get("source") == "human_escalation" or mentioned(state):
        return ""
    if impact == "minor":
        return "" if state.brief.mode == "interactive" else "it is minor, and the default was taken"
    if state.brief.mode != "autonomous":
        return ""
    return _why_closed(items(item.get("readings")), state.brief.request)


def _why_closed(readings: list[Json], request: str) -> str:
    """Why two readings are not put to a human in a run that works by itself; "" where they are."""
    results = {_key(row.get("result")) for row in readings if row.get("result")}
    if len(results) < _TWO:
        return "no two readings were found that give different results, and the run works by itself"
    if not any(stands_in(str(row.get("input", "")), request) for row in readings):
        return "no input on which the readings differ stands in the request, and the run works by itself"
    settled = [row for row in readings if row.get("result") and stands_in(str(row.get("result")), request)]
    return "the request itself states one of the results" if len(settled) == 1 else ""


def _answered(state: RunState, item: Json, answer: Json) -> dict[str, object]:
    human = _human_answer(state, str(item.get("question", "")))
    if human is not None and human.resolution is not None:
        return {
            "question": item.get("question", ""),
            "impact": item.get("impact", "significant"),
            "source": "human_escalation",
            "answer": human.resolution.text or str(item.get("default", "")) or human.resolution.decision,
            "confidence": 1.0,
            "resolved_by": human.resolution.by,
            "resolved_at": human.resolved_at,
        }
    if _proved(state, answer):
        told = {key: answer[key] for key in answer if key not in ("resolved_by", "resolved_at")}
        return {**told, "question": item.get("question", ""), "impact": item.get("impact", "significant")}
    why = _why_not_asked(state, item, answer)
    return _assumed({**item, "default": answer.get("answer") or item.get("default")}, note=why)


def _assumed(item: Json, *, note: str = "") -> dict[str, object]:
    readings = items(item.get("readings"))
    return {
        "question": item.get("question", ""),
        "impact": item.get("impact", "minor"),
        "source": "assumption",
        "answer": str(item.get("default") or "the plainest reading of the request"),
        "confidence": 0.5,
        **({"note": note} if note else {}),
        **({"readings": readings} if readings else {}),
    }


def _human_answer(state: RunState, question: str) -> Escalation | None:
    found = [
        item
        for item in state.people.escalations.values()
        if item.stage == "clarify" and item.context.get("key") == question and item.resolution is not None
    ]
    return found[-1] if found else None


STAGE = Stage(
    name="clarify",
    produces="clarification",
    consumes=("intake",),
    purpose="settle open questions by evidence, assumption or a human",
    criteria=("every open question has an answer", "an inferred answer has evidence that stands in the files"),
    tools=("grep", "read_file", "glob", "find_symbol", "submit_artifact"),
    omit=(
        "clarification_id",
        "intake_ref",
        "metadata",
        "questions.resolved_by",
        "questions.resolved_at",
        "questions.note",
        "questions.readings",
    ),
    actions=ACTIONS,
    needs_model=needs_model,
    draft=draft,
    questions=questions,
    complete=complete,
    keeps_reading=True,
    measures_any_shape=True,
)
