"""Plan mode ends with a plan that the person approves: then the same turn goes on in build mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentforge.app.sessions.approvals import APPROVE, KEEP_PLANNING
from agentforge.app.slash import run_slash
from tests.support.people import Asked, requests_of, texts_of

if TYPE_CHECKING:
    from tests.support.people import Open

_PLAN = {"name": "submit_plan", "args": {"plan": "1. Write a.py"}}
_WRITE = {"name": "write_file", "args": {"path": "a.py", "content": "x = 1\n"}}
_SCRIPT: dict[str, Any] = {"chat": [{"tool_calls": [_PLAN]}, {"tool_calls": [_WRITE]}, {"text": "Done."}]}


class Reading(Asked):
    """A person who answers, and remembers what was asked."""

    def __init__(self, answer: str) -> None:
        super().__init__("once", words=answer)
        self.read: list[tuple[str, tuple[str, ...]]] = []

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        self.read.append((question, options))
        return super().ask(question, options)


def test_an_approved_plan_is_carried_out_in_the_same_turn(opened: Open) -> None:
    person = Reading(APPROVE)
    chat = opened(_SCRIPT, person, work_mode="plan", approval="yolo")
    chat.say("write a.py")
    ((question, options),) = person.read
    assert question.startswith("1. Write a.py") and options == (APPROVE, KEEP_PLANNING)
    assert (chat.workshop.root / "a.py").exists() and chat.workshop.work_mode == "build"
    first, second, *_ = requests_of(chat)
    assert texts_of(first)[0][1].count("Mode: plan") == 1 and texts_of(second)[0][1].count("Mode: build") == 1
    assert "The user approved the plan" in texts_of(second)[-1][1]


@pytest.mark.parametrize(("answer", "told"), [("Use b.py", "and said: Use b.py"), ("", "Nobody was there to approve")])
def test_without_approval_nothing_is_written_and_the_model_is_told_why(opened: Open, answer: str, told: str) -> None:
    chat = opened(_SCRIPT, Reading(answer), work_mode="plan", approval="yolo")
    chat.say("write a.py")
    assert chat.workshop.work_mode == "plan" and not (chat.workshop.root / "a.py").exists()
    assert told in texts_of(requests_of(chat)[1])[-1][1]


def test_the_tool_is_there_in_plan_mode_and_where_somebody_can_approve(opened: Open) -> None:
    assert "submit_plan" in opened(person=Reading(""), work_mode="plan").workshop.tools()
    assert "submit_plan" not in opened(person=Reading("")).workshop.tools()
    assert "submit_plan" not in opened(work_mode="plan").workshop.tools()


def test_words_behind_build_go_to_the_agent(opened: Open) -> None:
    chat = opened(work_mode="plan")
    said = run_slash(chat, "/build carry it out")
    assert (said.action, said.prompt, chat.workshop.work_mode) == ("say", "carry it out", "build")
    assert run_slash(chat, "/build").action == ""
