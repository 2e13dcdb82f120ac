"""Driving a run from the command line; the run is told as events, everything around it is real."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from agentforge.app.composition.run_result import RunResult
from agentforge.app.tasks.start_options import Watch
from agentforge.cli.runs.follow import Reply, ask, follow
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.errors import ModelUnavailable
from agentforge.events import kinds
from agentforge.events.state.run_state import Escalation

if TYPE_CHECKING:
    from tests.cli.conftest import Story


@pytest.fixture
def place() -> Place:
    return open_place(None)


def test_a_delivered_run_ends_with_its_summary_and_zero(
    story: Story, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin(watch: Watch) -> RunResult:
        story.watch = watch
        return RunResult(state=story.tell(story.started, *story.stage("spec"), *story.delivered), folder=Path("/f"))

    assert follow(begin, place=place, form="text") == 0
    out = capsys.readouterr().out
    assert "spec: done, 1 step" in out
    assert "git merge agentforge/task-1" in out


@pytest.mark.parametrize(("form", "kind"), [("json", None), ("stream-json", "result")])
def test_json_forms_end_with_the_result_object(
    story: Story, place: Place, capsys: pytest.CaptureFixture[str], form: str, kind: str | None
) -> None:
    def begin(watch: Watch) -> RunResult:
        story.watch = watch
        return RunResult(state=story.tell(story.started, *story.delivered), folder=Path("/f"))

    assert follow(begin, place=place, form=form) == 0  # type: ignore[arg-type] # parametrised
    out = capsys.readouterr().out
    last = json.loads(out if kind is None else out.splitlines()[-1])
    assert last.get("type") == kind
    assert (last["task_id"], last["outcome"]) == ("task-1", "delivered")
    assert len(out.splitlines()) == 4 or kind is None


def test_without_a_terminal_a_question_ends_the_process_with_three(
    story: Story, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin(watch: Watch) -> RunResult:
        story.watch = watch
        state = story.tell(story.started, kinds.StageStarted(stage="clarify", attempt=1), story.question)
        return RunResult(state=state, folder=Path("/f"))

    assert follow(begin, place=place, form="text") == 3
    assert 'agentforge resolve task-1.E1 --answer "TEXT" --resume' in capsys.readouterr().out


def test_an_error_that_stopped_the_run_gives_its_code(
    story: Story, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin(watch: Watch) -> RunResult:
        del watch
        error = ModelUnavailable("custom/m does not answer", hint="try later")
        return RunResult(state=story.tell(story.started), folder=Path("/f"), error=error)

    assert follow(begin, place=place, form="text") == 5
    assert capsys.readouterr().err == "error[model-unavailable]: custom/m does not answer - try later\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_keeps_the_state_and_says_how_to_go_on(
    story: Story, place: Place, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    def begin(watch: Watch) -> RunResult:
        story.watch = watch
        story.tell(story.started)
        os.kill(os.getpid(), number)
        raise AssertionError("the signal did not arrive")

    before = signal.getsignal(number)
    assert follow(begin, place=place, form="json") == 130
    assert signal.getsignal(number) == before
    captured = capsys.readouterr()
    assert json.loads(captured.out)["error"]["hint"] == "state kept; go on with: agentforge resume task-1"
    assert "interrupted: state kept; go on with: agentforge resume task-1" in captured.err


def _escalation(kind: str, *, reason: str = "", options: tuple[str, ...] = ()) -> Escalation:
    return Escalation(
        escalation_id="E1", stage="s", kind=kind, reason=reason, question="?", options=options, context={}, raised_at=""
    )


@pytest.mark.parametrize(
    ("item", "typed", "reply"),
    [
        (_escalation("approval"), "approve\n", Reply(decision="approve")),
        (_escalation("approval"), "reject\ntoo wide\n", Reply(decision="reject", text="too wide")),
        (_escalation("approval"), "abort\n", Reply(decision="abort")),
        (_escalation("approval"), "perhaps\nlater\n", None),
        (_escalation("question", options=("red", "blue")), "2\n", Reply(decision="answer", text="blue")),
        (_escalation("question", options=("red", "blue")), "3\ngreen\n", Reply(decision="answer", text="green")),
        (_escalation("question", options=("red", "blue")), "7\n", Reply(decision="answer", text="7")),
        (_escalation("question"), "both, in order\n", Reply(decision="answer", text="both, in order")),
        (_escalation("stuck"), "/abort\n", Reply(decision="abort")),
        (_escalation("stuck"), "\n", None),
        (
            _escalation("limit", reason="max_steps: 3 of 3 steps are used"),
            "few\n2\n9\n",
            Reply(decision="answer", text="max_steps = 9", limits={"max_steps": 9}),
        ),
        (
            _escalation("limit", reason="deadline: 5 of 5"),
            "2\nnone\n",
            Reply(decision="answer", text="deadline_s = none", limits={"deadline_s": None}),
        ),
        (_escalation("limit", reason="budget_usd: 1 of 1"), "abort\n", Reply(decision="abort")),
    ],
)
def test_a_person_at_the_terminal_decides(item: Escalation, typed: str, reply: Reply | None) -> None:
    given: list[Reply | None] = []

    @click.command()
    def command() -> None:
        given.append(ask(item))

    assert CliRunner().invoke(command, input=typed).exit_code == 0
    assert given == [reply]
