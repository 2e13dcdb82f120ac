"""How a run is described at its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.cli.output.summary import escalation_lines, summary_lines
from agentforge.cli.output.terminal import Style
from agentforge.events import kinds
from agentforge.events.kinds.choices import choices_of
from agentforge.views.words import answers_for
from tests.support.run_states import with_fields

if TYPE_CHECKING:
    from tests.cli.conftest import Story

ASCII = Style(colour=False, unicode=False)


def test_a_delivery_is_told_in_a_screenful(story: Story) -> None:
    names = ("clarify", "spec", "red", "green")
    events = [event for number, name in enumerate(names, start=1) for event in story.stage(name, step=number)]
    state = story.tell(story.started, *events, *story.delivered)
    assert summary_lines(state, folder=Path("/repo/.agentforge/tasks/task-1"), duration_s=92, style=ASCII) == [
        "",
        "+ delivered  task-1  in 1m32s",
        "  assumed  Unicode? -> ASCII only",
        "  branch   agentforge/task-1 at cccccccccc, from main bbbbbbbbbb",
        "  proved   REQ-001 slugs <- tests/t.py::test_a, tests/t.py::test_b and 1 more",
        "           REQ-002 empty <- no test",
        "  checked  red: 2 of 2 rules hold",
        "           green: 2 of 2 rules hold",
        "  model    custom/m: 4 calls, 8,000 prompt tokens (2,000 cached), 1,200 completion tokens, $0.08",
        "  record   /repo/.agentforge/tasks/task-1",
        "",
        "  git diff main...agentforge/task-1",
        "  git merge agentforge/task-1",
    ]


def test_an_analysis_tells_what_it_found_and_where_it_can_be_read(story: Story) -> None:
    events = story.stage("analyze")
    state = story.tell(story.started, *events, kinds.RunFinished(outcome="analyzed"))
    found = {"summary": "tasks lie in a file", "findings": ["as JSON: todo.py:11"]}
    state = with_fields(state, artifacts={"analyze": found})
    lines = summary_lines(state, folder=Path("/f"), duration_s=1, style=ASCII)
    assert lines[1:5] == [
        "+ analyzed  task-1  in 1s",
        "  found    tasks lie in a file",
        "           as JSON: todo.py:11",
        "  report   /f/artifacts/phases/analyze/analysis.md",
    ]


def test_an_unknown_price_is_said(story: Story) -> None:
    events = story.stage("spec")
    unknown = kinds.ModelReplied(step=1, text="", tool_calls=(), finish="stop", usage={}, model="m", cost_usd=None)
    state = story.tell(story.started, *events[:2], unknown)
    lines = summary_lines(state, folder=Path("/f"), duration_s=1, style=ASCII)
    assert any(line.endswith("cost unknown") for line in lines)
    assert lines[-1] == "  agentforge resume task-1"


def test_a_failure_shows_its_error_and_hint(story: Story) -> None:
    error = {"slug": "limit", "message": "no steps left", "hint": "raise max_steps"}
    state = story.tell(story.started, kinds.RunFinished(outcome="failed", error=error))
    lines = summary_lines(state, folder=Path("/f"), duration_s=1, style=ASCII)
    assert lines[1] == "x failed  task-1  in 1s"
    assert "  error    limit: no steps left - raise max_steps" in lines


def test_a_question_cannot_steer_the_terminal_and_names_the_commands(story: Story) -> None:
    state = story.tell(story.started, kinds.StageStarted(stage="clarify", attempt=1), story.question)
    question = state.people.open_escalations[0]
    lines = escalation_lines(question, task_id="task-1", style=ASCII)
    assert lines[:5] == [
        "",
        "? question task-1.E1  a blocking question",
        "  Which one?",
        "  the <U+001B>[31mred<U+001B>[0m one",
        "",
    ]
    assert lines[5::2] == [
        f"  {number}. {one.label}: {one.then}" for number, one in enumerate(choices_of(question), start=1)
    ]
    assert [line.strip() for line in lines[6::2]] == [
        'agentforge resolve task-1.E1 --answer "red" --resume',
        'agentforge resolve task-1.E1 --answer "blue" --resume',
        'agentforge resolve task-1.E1 --answer "TEXT" --resume',
        "agentforge abort task-1",
    ]
    lines = summary_lines(state, folder=Path("/f"), duration_s=1, style=ASCII)
    assert lines[1] == "? waits for you  task-1  in 1s"


def test_each_kind_of_escalation_names_its_own_way_out(story: Story) -> None:
    approval = kinds.EscalationRaised(escalation_id="E1", stage="spec", kind="approval", reason="", question="")
    limit = kinds.EscalationRaised(
        escalation_id="E2", stage="spec", kind="limit", reason="max_steps: 3 of 3", question=""
    )
    state = story.tell(story.started, kinds.StageStarted(stage="spec", attempt=1), approval, limit)
    first, second = (answers_for(item, task_id="t") for item in state.people.open_escalations)
    assert first == [
        "agentforge resolve t.E1 --approve --resume",
        'agentforge resolve t.E1 --reject "REASON" --resume',
        "agentforge abort t",
    ]
    assert second == [
        "agentforge resolve t.E2 --approve --resume",
        "agentforge resume t --max-steps +N",
        "agentforge abort t",
    ]


def test_a_narrow_terminal_breaks_rows_between_words(story: Story) -> None:
    error = {
        "slug": "limit",
        "message": "there are no steps left in this stage and no tokens either, so nothing more can be done",
    }
    state = story.tell(story.started, kinds.RunFinished(outcome="failed", error=error))
    narrow = Style(colour=False, unicode=False, columns=40)
    lines = summary_lines(state, folder=Path("/f"), duration_s=1, style=narrow)
    told = [line for line in lines if line.startswith(("  error", "          "))]
    assert max(map(len, told)) <= 40
    assert " ".join(" ".join(told).split()) == f"error limit: {error['message']}"


def test_a_long_row_is_cut_after_a_word(story: Story) -> None:
    error = {"slug": "limit", "message": "wordword " * 40}
    state = story.tell(story.started, kinds.RunFinished(outcome="failed", error=error))
    (told,) = [line for line in summary_lines(state, folder=Path("/f"), duration_s=1, style=ASCII) if "error" in line]
    assert told.endswith(" wordword...")


def test_a_question_is_broken_between_words_on_a_narrow_terminal(story: Story) -> None:
    state = story.tell(story.started, kinds.StageStarted(stage="clarify", attempt=1), story.question)
    item = replace(state.people.open_escalations[0], question="several words " * 10)
    lines = escalation_lines(item, task_id="task-1", style=Style(colour=False, unicode=False, columns=30))
    assert max(len(line) for line in lines if "words" in line) <= 30
    assert not any(line.endswith(("wor", "sev", "word")) for line in lines)


def test_an_error_that_is_told_elsewhere_is_not_told_twice(story: Story) -> None:
    state = story.tell(story.started, kinds.RunFinished(outcome="failed", error={"slug": "limit", "message": "no"}))
    assert not any(
        "limit" in line for line in summary_lines(state, folder=Path("/f"), duration_s=1, style=ASCII, error=False)
    )
