"""CLARIFY: open questions settled by checked evidence, by recorded assumptions, or by a human."""

from __future__ import annotations

from agentforge.events.state import Escalation, RunState
from agentforge.pipeline.stage import ACTIONS, Json, Question, Stage, items


def needs_model(state: RunState) -> bool:
    """Only questions of some weight are worth a search; minor ones take their default."""
    return any(item.get("impact") != "minor" for item in ambiguities(state)) or bool(state.findings)


def draft(state: RunState) -> dict[str, object]:
    """Every minor question answered by its default."""
    return {"questions": [_assumed(item) for item in ambiguities(state)]}


def questions(state: RunState) -> tuple[Question, ...]:
    """What a human must settle: by impact and mode, unless the answer's evidence was checked."""
    out = []
    for item, answer in _paired(state):
        if _needs_human(state, item, answer):
            key = str(item.get("question", ""))
            default = str(item.get("default") or answer.get("answer") or "")
            impact = item.get("impact", "significant")
            out.append(
                Question(
                    key=key,
                    text=key,
                    reason=f"{impact} ambiguity in {item.get('area', 'the request')}; the repository does not settle it",
                    options=(default,) if default else (),
                )
            )
    return tuple(out)


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """One entry per ambiguity; human answers win over inference, inference counts only with checked evidence."""
    return {"questions": [_answered(state, item, answer) for item, answer in _paired(state)]}


def ambiguities(state: RunState) -> list[Json]:
    """The ambiguities of the intake record."""
    return items(state.artifacts.get("intake", {}).get("identified_ambiguities"))


def _paired(state: RunState) -> list[tuple[Json, Json]]:
    """Each ambiguity with the draft's entry for it: by text, else by position if that entry answers no other ambiguity."""
    submission = state.submission
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
    facts = state.submission.facts if state.submission else None
    checked = [row for row in items((facts or {}).get("evidence")) if row.get("question") == answer.get("question")]
    return answer.get("source") == "agent_inference" and bool(checked) and all(row.get("ok") for row in checked)


def _needs_human(state: RunState, item: Json, answer: Json) -> bool:
    if _proved(state, answer):
        return False
    impact = item.get("impact", "significant")
    if impact == "blocking" or answer.get("source") == "human_escalation":
        return True
    if impact == "significant":
        return state.mode != "autonomous"
    return state.mode == "interactive"


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
    return _assumed({**item, "default": answer.get("answer") or item.get("default")})


def _assumed(item: Json) -> dict[str, object]:
    return {
        "question": item.get("question", ""),
        "impact": item.get("impact", "minor"),
        "source": "assumption",
        "answer": str(item.get("default") or "the plainest reading of the request"),
        "confidence": 0.5,
    }


def _human_answer(state: RunState, question: str) -> Escalation | None:
    found = [
        item
        for item in state.escalations.values()
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
    omit=("clarification_id", "intake_ref", "metadata", "questions.resolved_by", "questions.resolved_at"),
    actions=ACTIONS,
    needs_model=needs_model,
    draft=draft,
    questions=questions,
    complete=complete,
)
