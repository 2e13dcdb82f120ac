"""Escalations of a repository: what waits, and recording an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.composition.task_queries import load
from agentforge.app.tasks import log_heads
from agentforge.app.tasks.answers import escalations, pending, resolve
from agentforge.errors import ConflictError, LockedError, UsageError
from agentforge.events import kinds
from agentforge.events.kinds.choices import ABORT, fixed
from agentforge.store.log.lease import Lease

Tell = Callable[..., Path]
OTHER = "task-20260102-other"


def raised(number: int = 1, kind: str = "question", reason: str = "r") -> kinds.Event:
    return kinds.EscalationRaised(
        escalation_id=f"E{number}",
        stage="spec",
        kind=kind,
        reason=reason,
        question="Which?",
        options=("a", "b"),  # type: ignore[arg-type]
    )


def begun(*more: kinds.Event) -> tuple[kinds.Event, ...]:
    return (kinds.StageStarted(stage="spec", attempt=1), *more)


def test_what_waits_is_listed_oldest_first_and_what_is_answered_or_over_is_not(repo: Path, tell: Tell) -> None:
    tell(*begun(raised()), run_id=OTHER, day=2)
    tell(*begun(raised(), kinds.EscalationResolved(escalation_id="E1", decision="answer", text="a"), raised(2)))
    tell(*begun(raised(), kinds.RunFinished(outcome="aborted")), run_id="task-20260103-over", day=3)
    assert [row.address for row in pending(repo)] == ["task-20260101-slugify.E2", f"{OTHER}.E1"]
    assert len(escalations(repo)) == 4


def test_an_answer_is_recorded_and_reaches_the_run(repo: Path, tell: Tell) -> None:
    folder = tell(*begun(raised()))
    result = resolve(repo, "E1", decision="answer", text="b", by="ann")
    assert (result.folder, result.state.people.open_escalations) == (folder, ())
    item = load(repo, "task-20260101-slugify").state.people.escalations["E1"]
    assert item.resolution is not None
    assert (item.resolution.text, item.resolution.by, item.resolution.decision) == ("b", "ann", "answer")


def test_an_answer_that_comes_before_the_asking_process_has_left_waits_for_it(
    repo: Path, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tell(*begun(raised()))
    asking = Lease.take(folder, since="2026-01-01T00:00:00.000000Z")
    monkeypatch.setattr(log_heads.time, "sleep", lambda _: asking.release())
    assert resolve(repo, "E1", decision="answer", text="b").state.people.open_escalations == ()


def test_a_run_that_works_is_not_waited_for(repo: Path, tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tell(*begun(raised(), kinds.EscalationResolved(escalation_id="E1", decision="answer", text="a")))
    monkeypatch.setattr(log_heads.time, "sleep", lambda _: pytest.fail("it waited"))
    working = Lease.take(folder, since="2026-01-01T00:00:00.000000Z")
    with pytest.raises(LockedError):
        log_heads.open_task(folder, {}, leaving_s=log_heads.LEAVING_S)
    working.release()


def test_an_id_that_fits_two_tasks_needs_the_long_form(repo: Path, tell: Tell) -> None:
    tell(*begun(raised()))
    tell(*begun(raised()), run_id=OTHER, day=2)
    with pytest.raises(UsageError, match=f"E1 matches several tasks: .*{OTHER}"):
        resolve(repo, "E1", decision="answer", text="a")
    assert resolve(repo, f"{OTHER}.E1", decision="answer", text="a").state.identity.run_id == OTHER


def test_an_answer_needs_words_and_an_approval_needs_none(repo: Path, tell: Tell) -> None:
    tell(*begun(raised(), raised(2, kind="approval")))
    with pytest.raises(UsageError, match="needs a text"):
        resolve(repo, "E1", decision="answer", text="  ")
    with pytest.raises(UsageError, match="needs a text"):
        resolve(repo, "E2", decision="reject")
    assert len(resolve(repo, "E2", decision="approve").state.people.open_escalations) == 1


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_an_answer_that_the_question_does_not_offer_is_refused_with_those_that_it_does(
    repo: Path, tell: Tell, decision: Any
) -> None:
    tell(*begun(raised()))
    with pytest.raises(UsageError, match=rf"does not offer --{decision}: Which\?") as refused:
        resolve(repo, "E1", decision=decision)
    assert '--answer "b" --resume' in refused.value.hint
    assert load(repo, "task-20260101-slugify").state.people.open_escalations


def closed(*texts: str) -> kinds.Event:
    return replace(raised(), options=texts, choices=tuple(fixed(text, "It goes on.").value for text in texts))


@pytest.mark.parametrize(
    ("given", "recorded"),
    [("b", "b"), ("`B`.", "b"), ("2", "b"), ("name", "kit/text.py::name"), ("c", None), ("9", None)],
)
def test_of_a_closed_question_one_option_is_the_answer_however_it_is_written(
    repo: Path, tell: Tell, given: str, recorded: str | None
) -> None:
    tell(*begun(closed("a", "b", "kit/text.py::name")))
    if recorded is None:
        with pytest.raises(UsageError, match="does not offer"):
            resolve(repo, "E1", decision="answer", text=given)
        return
    item = resolve(repo, "E1", decision="answer", text=given).state.people.escalations["E1"]
    assert item.resolution is not None and item.resolution.text == recorded


def test_abort_as_an_answer_ends_the_task(repo: Path, tell: Tell) -> None:
    tell(*begun(replace(raised(), options=("abort",), choices=(ABORT.value,))))
    item = resolve(repo, "E1", decision="answer", text="abort").state.people.escalations["E1"]
    assert item.resolution is not None and item.resolution.decision == "abort"


def test_what_was_answered_cannot_be_answered_again(repo: Path, tell: Tell) -> None:
    tell(*begun(raised()))
    resolve(repo, "E1", decision="answer", text="a")
    with pytest.raises(ConflictError, match="answered already"):
        resolve(repo, "E1", decision="approve")
    with pytest.raises(UsageError, match="no escalation 'E7'"):
        resolve(repo, "E7", decision="approve")


def test_of_two_people_who_answer_at_once_the_second_is_told(
    repo: Path, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentforge.app.tasks import answers

    tell(*begun(raised()))
    seen = pending(repo)
    resolve(repo, "E1", decision="answer", text="a")
    monkeypatch.setattr(answers, "pending", lambda _cwd: seen)
    with pytest.raises(ConflictError, match="answered already"):
        resolve(repo, "E1", decision="reject")


@pytest.mark.parametrize(
    ("reason", "decision", "limits"),
    [
        ("max_steps: 20 of 20 steps are used", "approve", {"max_steps": 40}),
        ("budget_tokens: 990 of 1000 tokens are used", "approve", {"budget_tokens": 2000}),
        ("something: else", "approve", {"max_steps": 20, "budget_tokens": 1000}),
    ],
)
def test_approving_a_limit_raises_it_by_as_much_again(
    repo: Path, tell: Tell, reason: str, decision: Any, limits: dict[str, int]
) -> None:
    tell(*begun(raised(kind="limit", reason=reason)))
    state = resolve(repo, "E1", decision=decision, text="go on").state
    assert {name: getattr(state.brief.limits, name) for name in limits} == limits
    assert state.people.open_escalations == ()


def test_a_damaged_run_does_not_hide_the_others(repo: Path, tell: Tell) -> None:
    tell(*begun(raised()))
    broken = tell(*begun(raised()), run_id=OTHER, day=2)
    (broken / "events.jsonl").write_text("no log\n" * 3)
    assert [row.address for row in pending(repo)] == ["task-20260101-slugify.E1"]
