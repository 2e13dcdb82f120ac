"""What a finished run is worth: right, wrong, escalated or failed, and which stage lost it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentforge.evals.trials.task import EvalTask

Verdict = Literal["right", "wrong", "escalated", "failed"]
VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "escalated", "failed")

_ASKED = ("question", "conflict")
_HUMAN = (*_ASKED, "stuck", "approval")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialQuestion:
    """A question that a human was asked: its kind, and every word of it."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is known of a run that ended.

    Attributes:
        outcome: delivered, analyzed, escalated, paused, failed, error, ...
        stage: the last one that was reached.
        asked: open questions.
        report: the text of what ANALYZE handed in.
        hidden: what kept the hidden tests from passing; () = they pass. None when they were not run.
        peeked: the run looked at the folder in which the hidden tests lie.
        detail: findings, or the error.
    """

    outcome: str
    stage: str = ""
    asked: tuple[TrialQuestion, ...] = ()
    report: str = ""
    hidden: tuple[str, ...] | None = None
    peeked: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict, the stage that lost the task ("" when it is right), and why."""

    verdict: Verdict
    lost_in: str = ""
    why: str = ""


def judge(task: EvalTask, end: Ending) -> Judgement:
    """Judge a run.

    A wrong delivery has passed the tests of RED, so RED has lost it; one of a task that had to ask was lost where questions
    are found, in INTAKE.
    """
    if end.peeked:
        return Judgement(verdict="failed", lost_in=end.stage, why="it looked at the hidden tests")
    if end.outcome in ("delivered", "analyzed"):
        return _done(task, end)
    if end.outcome == "escalated" and any(one.kind in _HUMAN for one in end.asked):
        return _asked(task, end)
    return Judgement(verdict="failed", lost_in=end.stage, why=end.detail or f"the run ended {end.outcome}")


def _done(task: EvalTask, end: Ending) -> Judgement:
    if task.expected in ("must-ask", "must-escalate"):
        return Judgement(verdict="wrong", lost_in="intake", why=f"{end.outcome} instead of asking")
    if end.outcome == "analyzed":
        return _analyzed(task, end)
    if task.expected == "analyzed":
        return Judgement(verdict="wrong", lost_in="intake", why="changed files instead of a report")
    if end.hidden is None:
        return Judgement(verdict="failed", lost_in="deliver", why="the delivery could not be judged")
    if end.hidden:
        return Judgement(verdict="wrong", lost_in="red", why=_list(end.hidden))
    return Judgement(verdict="right")


def _analyzed(task: EvalTask, end: Ending) -> Judgement:
    if task.expected != "analyzed":
        return Judgement(verdict="wrong", lost_in="intake", why="a report instead of the change that was asked for")
    text = end.report.casefold()
    missing = [word for word in task.mentions if word.casefold() not in text]
    if missing:
        return Judgement(verdict="wrong", lost_in="analyze", why=f"the report does not mention {', '.join(missing)}")
    return Judgement(verdict="right")


def _asked(task: EvalTask, end: Ending) -> Judgement:
    why = _list(tuple(" ".join(one.text.split()) for one in end.asked if one.text.strip())) or end.detail
    if task.expected == "must-escalate":
        said = " ".join(" ".join(one.text.split()) for one in end.asked)
        unsaid = [text for text in task.shows if " ".join(text.split()) not in said]
        told = f"the question does not show {', '.join(map(repr, unsaid))}"
        return (
            Judgement(verdict="escalated", lost_in=end.stage, why=told)
            if unsaid
            else Judgement(verdict="right", why=why)
        )
    questions = [one for one in end.asked if one.kind in _ASKED]
    if task.expected == "must-ask" and _speaks_of(task.about, questions):
        return Judgement(verdict="right", why=why)
    return Judgement(verdict="escalated", lost_in=end.stage, why=why)


def _speaks_of(words: Sequence[str], questions: Sequence[TrialQuestion]) -> bool:
    text = " ".join(one.text for one in questions).casefold()
    return bool(questions) and (not words or any(word.casefold() in text for word in words))


def _list(words: Sequence[str]) -> str:
    return "; ".join(words[:5])[:600]
