"""What somebody who watches a run sees."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from agentforge.cli.output.progress import (
    PlainScreen,
    SilentScreen,
    StreamScreen,
    TerminalScreen,
    screen_for,
    status_text,
)
from agentforge.cli.output.terminal import Style
from agentforge.events import kinds
from agentforge.underway import counter, underway

if TYPE_CHECKING:
    from tests.cli.conftest import Story

ASCII = Style(colour=False, unicode=False)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_every_step_is_a_plain_line(story: Story) -> None:
    out = io.StringIO()
    story.watch = PlainScreen(out, style=ASCII)
    story.tell(story.started, *story.stage("intake"), kinds.StageSkipped(stage="clarify", reason="no ambiguities"))
    story.tell(kinds.FactsGathered(name="baseline", attempt=1, facts={"tests": 3, "passed": 2}), story.question)
    assert out.getvalue().splitlines() == [
        ". task task-1",
        "    model custom/m",
        "    branch agentforge/task-1 from main bbbbbbbbbb",
        ". intake: begins",
        ". intake: step 1: edit: 1 replacement",
        ". intake: verified, 2 rules hold",
        "+ intake: done, 1 step, 2.3k tokens, $0.02",
        "- clarify: no ambiguities",
        ". baseline: before the change 2 of 3 tests pass",
        "? E1 clarify: a blocking question",
    ]


def test_independent_attempts_are_told_one_by_one_with_the_choice(story: Story) -> None:
    out = io.StringIO()
    story.tell(story.started)
    story.watch = PlainScreen(out, style=ASCII)
    story.tell(
        kinds.AttemptsStarted(stage="green", children=("task-1-a1", "task-1-a2")),
        kinds.AttemptFinished(number=1, child="task-1-a1", passed=False, reason="it was stuck"),
        kinds.AttemptFinished(number=2, child="task-1-a2", passed=True, score=0.9, lines=5),
        kinds.AttemptChosen(number=2, child="task-1-a2", reason="the only one of 2 that passes all rules"),
    )
    assert out.getvalue().splitlines() == [
        ". green: 2 independent attempts from here on",
        "x attempt 1: it was stuck",
        "+ attempt 2: passes all rules, mutation score 0.90, 5 changed lines",
        ". attempt 2 goes on: the only one of 2 that passes all rules",
    ]


def test_a_refused_attempt_names_its_findings(story: Story) -> None:
    out = io.StringIO()
    story.tell(story.started, kinds.StageStarted(stage="red", attempt=1))
    story.watch = PlainScreen(out, style=ASCII)
    results = tuple({"rule": f"r{number}", "passed": False, "message": f"wrong {number}"} for number in range(7))
    story.tell(
        kinds.StageVerified(
            stage="red",
            attempt=1,
            passed=False,
            contract="",
            contract_digest="",
            artifact={},
            artifact_digest="",
            results=results,
        )
    )
    assert out.getvalue().splitlines() == [
        "x red: attempt 1 not accepted, 7 findings",
        *(f"    wrong {number}" for number in range(5)),
        "    and 2 more",
    ]


def test_a_terminal_keeps_one_status_line_below_the_finished_stages(story: Story) -> None:
    out = Terminal()
    screen = TerminalScreen(out, style=ASCII, clock=iter(range(0, 1000, 30)).__next__, columns=lambda: 60)
    story.watch = screen
    events = story.stage("intake")
    story.tell(story.started, *events[:4])
    drawn = out.getvalue().split("\r\x1b[K")
    assert drawn[-1] == "intake | step 1 | 2.3k tokens | $0.02 | 2m30s | edit src..."
    assert len(drawn[-1]) == 59
    story.tell(*events[4:], *story.delivered)
    assert "1 replacement" not in out.getvalue(), "single calls stay in the status line"
    assert out.getvalue().endswith("\r\x1b[K"), "nothing is left below when the run is over"
    assert [line for line in out.getvalue().splitlines() if "done, 1 step" in line] == [
        "\x1b[K+ intake: done, 1 step, 2.3k tokens, $0.02"
    ]


def test_a_resize_takes_effect_at_the_next_draw(story: Story) -> None:
    out = Terminal()
    widths = iter([80, 20, 20, 20])
    story.watch = TerminalScreen(out, style=ASCII, clock=lambda: 0.0, columns=lambda: next(widths, 20))
    story.tell(story.started, *story.stage("intake")[:4])
    assert len(out.getvalue().split("\r\x1b[K")[-1]) == 19


def test_entering_and_pausing_leave_no_thread_behind(story: Story) -> None:
    screen = TerminalScreen(Terminal(), style=ASCII, columns=lambda: 40)
    with screen, screen.paused():
        story.watch = screen
    assert screen._ticker is not None
    assert not screen._ticker.is_alive()


def test_a_stream_holds_one_object_per_event(story: Story) -> None:
    out = io.StringIO()
    story.watch = StreamScreen(out)
    story.tell(story.started, *story.stage("intake"))
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["type"] for line in lines][:3] == ["RunStarted", "StageStarted", "ModelCalled"]
    assert lines[3]["stage"] == "intake"
    assert lines[3]["step"] == 1
    assert lines[3]["at"].startswith("2026-11-21T10:00:04")
    assert lines[3]["data"]["model"] == "custom/m"


def test_a_reader_that_leaves_does_not_stop_the_run(story: Story) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    story.watch = PlainScreen(Closed(), style=ASCII)
    assert story.tell(story.started, *story.stage("intake")).progress.stages["intake"].status == "verified"


def test_the_screen_fits_the_form_and_the_terminal() -> None:
    plain, tty = io.StringIO(), Terminal()
    assert isinstance(screen_for("text", out=tty, err=plain, environ={}), TerminalScreen)
    assert isinstance(screen_for("text", out=tty, err=plain, environ={"TERM": "dumb"}), PlainScreen)
    assert isinstance(screen_for("text", out=plain, err=tty, environ={}), PlainScreen)
    assert isinstance(screen_for("json", out=plain, err=tty, environ={}), TerminalScreen)
    assert type(screen_for("json", out=tty, err=plain, environ={})) is SilentScreen
    assert isinstance(screen_for("stream-json", out=tty, err=tty, environ={}), StreamScreen)


def test_the_status_line_says_that_a_cost_is_unknown(story: Story) -> None:
    unknown = kinds.ModelReplied(step=1, text="", tool_calls=(), finish="stop", usage={}, model="m", cost_usd=None)
    events = story.stage("spec")
    state = story.tell(story.started, kinds.StageStarted(stage="spec", attempt=2), events[1], unknown)
    text = status_text(state, doing_now="asks m", elapsed_s=3, style=ASCII)
    assert text == "spec | attempt 2 | step 1 | 0 tokens | cost unknown | 3s | asks m"


def test_the_status_line_says_what_takes_long_how_far_it_is_and_how_long_yet(story: Story) -> None:
    out, now = Terminal(), [0.0]
    screen = TerminalScreen(out, style=ASCII, clock=lambda: now[0], columns=lambda: 200)
    story.watch = screen
    story.tell(story.started)
    with screen, underway("runs the whole suite on the change", usual_s=60.0):
        now[0] = 10.0
        story.tell(*story.stage("intake")[:1])
        assert out.getvalue().endswith("intake | 10s | runs the whole suite on the change, about 50s more")
        counter("tests")(300, 900)
        now[0] = 20.0
        story.tell(*story.stage("intake")[1:2])
        assert out.getvalue().endswith("runs the whole suite on the change: 300 of 900 tests, about 40s more")
    story.tell(*story.stage("intake")[:4])
    assert "whole suite" not in out.getvalue().split("\r\x1b[K")[-1], "what is over is not told any more"


def test_without_a_terminal_long_work_is_told_every_half_a_minute(story: Story) -> None:
    out, now = io.StringIO(), [0.0]
    screen = PlainScreen(out, style=ASCII, clock=lambda: now[0])
    with screen, underway("runs the whole suite before the change"):
        count = counter("tests")
        for at in range(0, 70, 5):
            now[0] = float(at)
            count(at, 100)
    counter("tests")(1, 2)
    assert out.getvalue().splitlines() == [
        ". runs the whole suite before the change: 30 of 100 tests, about 1m10s more",
        ". runs the whole suite before the change: 60 of 100 tests, about 40s more",
    ]
