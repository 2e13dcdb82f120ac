"""What a person does on the screen, and what comes of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from textual import events
from textual._xterm_parser import XTermParser

from agentforge.tui.driver import PasteReader
from agentforge.tui.run import farewell

if TYPE_CHECKING:
    from tests.support.loopback.provider import LoopbackProvider
    from tests.tui.conftest import Stage, Theatre

COMMIT = {"tool_calls": [{"name": "shell", "args": {"command": "git add textkit.py"}}]}
WRITE = {"tool_calls": [{"name": "write_file", "args": {"path": "new.txt", "content": "hello\n"}}]}
SLEEP = {"tool_calls": [{"name": "shell", "args": {"command": "sleep 77"}}]}


def decisions(stage: Stage) -> list[str]:
    return [event.decision for event in _events(stage) if type(event).__name__ == "ApprovalAnswered"]


def _events(stage: Stage) -> list[Any]:
    from agentforge.store.log.reader import read

    return [record.event for record in read(stage.app.engine.chat.log.folder)]


def test_allow_once_writes_the_file(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("write")
        await stage.modal("ApprovalScreen")
        await stage.pilot.press("y")
        await stage.idle()
        assert (theatre.repo / "new.txt").read_text() == "hello\n"

    theatre.play(steps, WRITE, {"text": "Done."})


def test_a_rejection_tells_the_agent_why(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("write")
        await stage.modal("ApprovalScreen")
        await stage.pilot.press("n", *"later", "enter")
        await stage.idle()
        assert not (theatre.repo / "new.txt").exists()
        told = [entry.text for entry in stage.app.engine.chat.state.talk.entries if entry.kind == "tool"]
        assert told[0].endswith("The user declined this call and said: later")

    theatre.play(steps, WRITE, {"text": "Well."})


def test_always_asks_no_second_time(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("add")
        await stage.modal("ApprovalScreen")
        await stage.pilot.press("a")
        await stage.idle()
        assert stage.app.engine.chat.desk.rules == ["shell(git add *)"]
        calls = [entry.status for entry in stage.app.engine.chat.state.talk.entries if entry.kind == "tool"]
        assert len(calls) == 2
        assert "denied" not in calls

    theatre.play(steps, COMMIT, COMMIT, {"text": "Done."})


def test_keys_that_were_meant_for_the_input_decide_nothing(theatre: Theatre, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentforge.tui.questions.ApprovalScreen.grace_s", 600.0)

    async def steps(stage: Stage) -> None:
        stage.app.prompt.insert("yes and then")
        await stage.app.give("write")
        screen = await stage.modal("ApprovalScreen")
        await stage.pilot.press("y")
        assert type(stage.app.screen).__name__ == "ApprovalScreen"
        await stage.pilot.press("escape")
        screen._unguard()
        await stage.pilot.press("escape")
        await stage.idle()
        assert not (theatre.repo / "new.txt").exists()

    theatre.play(steps, WRITE, {"text": "Well."})


def test_ctrl_c_in_an_approval_stops_the_turn_and_keeps_the_session(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("write")
        await stage.modal("ApprovalScreen")
        await stage.pilot.press("ctrl+c")
        await stage.idle()
        assert len(stage.app.screen_stack) == 1
        assert stage.app.engine.chat.state.talk.outcome == "interrupted"
        await stage.say("go on")
        await stage.idle()
        assert "Fine." in stage.text()

    theatre.play(steps, WRITE, {"text": "Fine."})


def test_ctrl_c_in_a_command_kills_it(theatre: Theatre) -> None:
    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say("sleep")
        await stage.until(lambda: "sleep 77" in stage.text())
        await stage.pilot.press("ctrl+c")
        await stage.idle()
        assert "stopped" in stage.text()
        assert stage.app.engine.chat.state.talk.outcome == "interrupted"

    began = time.monotonic()
    theatre.play(steps, SLEEP, {"text": "Fine."})
    assert time.monotonic() - began < 70


def test_ctrl_c_while_text_streams_keeps_what_came(theatre: Theatre, loopback: LoopbackProvider) -> None:
    from tests.support.loopback.provider import Say

    loopback.plan(Say(text="word " * 4000, pieces=5, pause_s=0.005), Say(text="Fine."))
    theatre.options["model"] = "custom/any"

    async def steps(stage: Stage) -> None:
        await stage.say("write a lot")
        await stage.until(lambda: "word word" in stage.text())
        await stage.type("next")
        await stage.pilot.press("enter")
        assert "next step: next" in stage.text()
        await stage.pilot.press("ctrl+c")
        await stage.idle()
        assert stage.app.prompt.text == "next", "what was queued is given back"
        await stage.pilot.press("enter")
        await stage.idle()
        assert "Fine." in stage.text()

    theatre.play(steps, environ={"BASE_URL": f"{loopback.url}/v1", "API_KEY": "x"})


def test_what_is_typed_meanwhile_is_said_next(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("one")
        await stage.say("two")
        await stage.until(lambda: stage.app.engine.chat.state.talk.turn == 2)
        await stage.idle()
        said = [entry.text for entry in stage.app.engine.chat.state.talk.entries if entry.kind == "user"]
        assert said == ["one", "two"]

    theatre.play(steps, {"text": "First."}, {"text": "Second."})


def test_ctrl_c_clears_the_input_then_leaves(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.type("something")
        await stage.pilot.press("ctrl+c")
        assert (stage.app.prompt.text, stage.app.is_running) == ("", True)
        await stage.pilot.press("ctrl+c")
        assert stage.app.return_code == 0

    theatre.play(steps)


def test_ctrl_d_deletes_while_something_is_typed_and_leaves_when_nothing_is(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.type("ab", "home", "ctrl+d")
        assert (stage.app.prompt.text, stage.app.is_running) == ("b", True)
        await stage.pilot.press("delete", "ctrl+d")
        assert stage.app.return_code == 0

    theatre.play(steps)


def test_history_goes_through_the_sessions_of_the_project(theatre: Theatre) -> None:
    async def first(stage: Stage) -> None:
        await stage.say("/version")
        await stage.idle()
        await stage.type("two\nlines", "enter")
        await stage.idle()

    async def second(stage: Stage) -> None:
        await stage.type("draft", "up")
        assert stage.app.prompt.text == "two\nlines"
        await stage.pilot.press("up", "up")
        assert stage.app.prompt.text == "/version"
        await stage.pilot.press("down", "down", "down")
        assert stage.app.prompt.text == "draft"

    theatre.play(first, {"text": "Hm."})
    theatre.play(second)


def test_new_lines_are_typed_by_alt_enter_ctrl_j_and_backslash(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.pilot.press("a", "alt+enter", "b", "ctrl+j", "c", "shift+enter", "d", "backslash", "enter", "e")
        assert stage.app.prompt.text == "a\nb\nc\nd\ne"

    theatre.play(steps)


def test_a_paste_that_no_window_holds_is_refused_and_stays_in_the_input(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        prompt = stage.app.prompt
        await stage.type("look: ")
        began = time.process_time()
        prompt.post_message(events.Paste(("x" * 79 + "\n") * 65_536))
        await stage.pilot.pause()
        assert prompt.text == "look: [pasted 1: 65,537 lines, 5,242,880 characters]"
        await stage.pilot.press("enter")
        await stage.idle()
        assert time.process_time() - began < 3
        assert stage.app.engine.chat.state.talk.entries == ()
        assert "this conversation has room" in stage.text()
        assert prompt.text == "look: [pasted 1: 65,537 lines, 5,242,880 characters]"

    theatre.play(steps, {"text": "Hm."})


def test_a_long_paste_that_fits_goes_to_the_agent_whole(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.type("look: ")
        pasted = "".join(f"pasted line {number}\n" for number in range(4_000))
        stage.app.prompt.post_message(events.Paste(pasted))
        await stage.pilot.pause()
        await stage.pilot.press("enter")
        await stage.idle()
        (entry, _) = stage.app.engine.chat.state.talk.entries
        assert entry.text.startswith("look: [pasted 1: 4,001 lines")
        assert pasted in entry.text

    theatre.play(steps, {"text": "Hm."})


def test_a_short_paste_of_several_lines_stays_as_it_is(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        stage.app.prompt.post_message(events.Paste("a\nb"))
        await stage.pilot.pause()
        assert stage.app.prompt.text == "a\nb"
        assert stage.app.engine.chat.state.talk.turn == 0, "nothing was sent"

    theatre.play(steps)


def test_a_paste_is_read_whole_however_it_arrives() -> None:
    data = "\x1b[200~" + "é\r\n" * 5000 + "\x1b[201~x"
    for size in (7, 4096, len(data)):
        reader = PasteReader(XTermParser())
        found = [message for at in range(0, len(data), size) for message in reader.feed(data[at : at + size])]
        pasted = "".join(message.text for message in found if isinstance(message, events.Paste))
        assert pasted == "é\n" * 5000 or size == 7, "a marker that comes in pieces is left to the parser of keys"
        assert [message.key for message in found if isinstance(message, events.Key)][-1] == "x"


def test_a_file_is_completed_and_its_contents_go_along(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.type("see @textk")
        await stage.until(lambda: stage.app.prompt.completing)
        await stage.pilot.press("tab")
        assert stage.app.prompt.text == "see @textkit.py "
        await stage.pilot.press("enter")
        await stage.idle()
        assert "def shout" in stage.app.engine.chat.state.talk.entries[0].text
        (stage.app.engine.root / "freshly.py").write_text("x = 1\n")
        await stage.type("and @fresh")
        await stage.until(lambda: stage.app.prompt.completing)

    theatre.play(steps, {"text": "Hm."})


def test_a_command_is_completed_and_carried_out(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.type("/appr")
        await stage.until(lambda: stage.app.prompt.completing)
        await stage.pilot.press("enter")
        await stage.type("yol")
        await stage.until(lambda: stage.app.prompt.completing)
        await stage.pilot.press("tab", "enter")
        await stage.idle()
        assert stage.app.engine.chat.state.talk.settings["approval"] == "yolo"
        assert "approval yolo" in stage.text()

    theatre.play(steps)


def test_a_question_of_the_model_is_answered_by_number(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        import threading

        answers: list[str | None] = []
        link = stage.app.engine.link
        asking = threading.Thread(target=lambda: answers.append(link.ask("Which?", ("one", "two"))))
        asking.start()
        await stage.modal("QuestionScreen")
        await stage.pilot.press("2", "enter")
        asking.join(5)
        assert answers == ["two"]

    theatre.play(steps)


def test_a_model_that_streams_forever_costs_no_more_with_time(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        for _ in range(12):
            await stage.app.transcript.stream("a word and another " * 500)
        replies = list(stage.app.query("Markdown"))
        assert len(replies) > 3, "a long answer is several blocks"
        assert len("".join(text for kind, text in stage.app.transcript.record if kind == "reply")) > 80_000

    theatre.play(steps)


def test_two_thousand_chunks_are_drawn_in_a_few_portions(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        drawn: list[str] = []
        stream = stage.app.transcript.stream

        async def counted(text: str) -> None:
            drawn.append(text)
            await stream(text)

        stage.app.transcript.stream = counted  # type: ignore[method-assign]
        for _ in range(2000):
            stage.app.engine.link.delta("word ")
        await stage.until(lambda: sum(map(len, drawn)) == 10_000)
        assert len(drawn) < 20

    theatre.play(steps)


def test_a_session_that_is_resumed_shows_what_was_said(theatre: Theatre) -> None:
    async def first(stage: Stage) -> None:
        await stage.say("hello")
        await stage.idle()

    async def second(stage: Stage) -> None:
        await stage.until(lambda: "First." in stage.text())
        assert "hello" in stage.text()
        await stage.say("again")
        await stage.idle()
        assert "Second." in stage.text()

    app = theatre.play(first, {"text": "First."}, {"text": "Second."})
    theatre.play(second, session=app.engine.chat.session_id)


def test_an_error_of_the_settings_closes_the_turn(theatre: Theatre, monkeypatch: pytest.MonkeyPatch) -> None:
    theatre.options["model"] = "scripted/nowhere.yaml"

    async def steps(stage: Stage) -> None:
        await stage.say("hello")
        await stage.idle()
        assert "nowhere.yaml" in stage.text()
        assert stage.app.engine.chat.state.talk.outcome == "failed"

    theatre.play(steps)


def test_a_defect_of_the_program_ends_the_screen_and_is_raised(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        stage.app.engine._jobs.put(lambda: 1 // 0)  # type: ignore[arg-type]
        await stage.until(lambda: stage.app.crash is not None)

    try:
        theatre.play(steps)
    except ZeroDivisionError:
        return
    raise AssertionError("it was lost")


def test_the_conversation_stays_on_the_normal_screen() -> None:
    record = [("said", "hello"), ("success", "read_file a.py"), ("reply", "# Hi\n\nthere")]
    text = farewell(record, session_id="0123456789", colour=False, unicode=True)
    assert (
        text
        == "› hello\n\n  ✓ read_file a.py\n\n# Hi\n\nthere\n\n\nsession kept; go on with: agentforge --resume 01234567\n"
    )
    assert farewell([], session_id="", colour=True, unicode=True) == ""


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "vt100"}])
def test_without_colours_nothing_is_coloured_and_what_is_chosen_is_reversed(
    theatre: Theatre, environ: dict[str, str]
) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("look")
        await stage.idle()
        await stage.type("/th")
        await stage.pilot.pause()
        drawn = [segment for line in stage.app.screen._compositor.render_strips() for segment in line]
        styles = [style for _, style, _ in drawn if style is not None]
        assert styles and not any(style.color or style.bgcolor for style in styles)
        assert any(style.reverse for style in styles) and any(style.bold for style in styles)

    look = {"tool_calls": [{"name": "read_file", "args": {"path": "textkit.py"}}]}
    theatre.play(steps, look, {"text": "**Well** done"}, environ=environ)


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (40, 15), (60, 16), (20, 20), (160, 50)])
def test_a_change_of_a_thousand_lines_leaves_the_keys_in_sight(theatre: Theatre, size: tuple[int, int]) -> None:
    change = {"path": "new.txt", "content": "a rather long line of text\n" * 1000}

    async def steps(stage: Stage) -> None:
        await stage.say("write")
        await stage.modal("ApprovalScreen")
        assert "Allow write_file?" in stage.text()
        assert "y allow once" in stage.text()
        await stage.pilot.press("n")
        await stage.pilot.pause()
        assert "why not?" in stage.text()

    theatre.play(steps, {"tool_calls": [{"name": "write_file", "args": change}]}, {"text": "Well."}, size=size)


def test_all_of_it_in_twenty_columns(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("commit it, please, and say what you did in many words")
        await stage.modal("ApprovalScreen")
        assert "y allow once" in stage.text()
        await stage.pilot.press("escape")
        await stage.idle()
        await stage.pilot.press("f1")
        await stage.modal("HelpScreen")
        await stage.pilot.resize_terminal(100, 30)
        await stage.pilot.press("escape")
        assert all(len(line) <= 100 for line in stage.text().splitlines())

    theatre.play(steps, COMMIT, {"text": "A table:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"}, size=(20, 20))


def _waiting(theatre: Theatre, task: str, *, kind: str, options: tuple[str, ...] = ()) -> None:
    """A task of the repository that waits for an answer."""
    from agentforge.events import kinds
    from agentforge.store.log.records import utc_now
    from agentforge.store.log.run_log import RunLog

    asked: Any = {"escalation_id": "E1", "stage": "spec", "kind": kind, "reason": "r", "options": options}
    first = kinds.RunStarted(
        kind="task", run_id=task, request="add slugify", repo=str(theatre.repo), base_commit="b" * 40, limits={}
    )
    with RunLog.create(theatre.repo / ".agentforge" / "tasks" / task, first, clock=utc_now) as log:
        log.append(kinds.StageStarted(stage="spec", attempt=1))
        log.append(kinds.EscalationRaised(question=f"What about {task}?", **asked))


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commands that go on with an answered task; here none is started."""
    from agentforge.app.slash import tasks

    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(tasks, "_begin", lambda _chat, arguments, title: started.append((*arguments[:2], title)))
    return started


def _answers(theatre: Theatre, task: str) -> list[tuple[str, str]]:
    from agentforge.events import kinds
    from agentforge.store.log.reader import read

    events = [record.event for record in read(theatre.repo / ".agentforge" / "tasks" / task)]
    return [(event.decision, event.text) for event in events if isinstance(event, kinds.EscalationResolved)]


def test_resolve_asks_one_task_after_the_other_and_tells_each(theatre: Theatre, begun: list[tuple[str, ...]]) -> None:
    _waiting(theatre, "task-20260101-one", kind="question", options=("slug", "title"))
    _waiting(theatre, "task-20260102-two", kind="approval")

    async def steps(stage: Stage) -> None:
        await stage.until(lambda: "2 waiting: /resolve" in stage.text(), what="two wait")
        await stage.say("/resolve")
        await stage.modal("QuestionScreen")
        assert "What about task-20260101-one?" in stage.text() and "title" in stage.text()
        await stage.pilot.press("2", "enter")
        await stage.until(lambda: "What about task-20260102-two?" in stage.text(), what="the second")
        await stage.pilot.press(*"reject", "enter")
        await stage.until(lambda: "Why not?" in stage.text(), what="the reason")
        await stage.pilot.press(*"slow", "enter")
        await stage.until(lambda: _answers(theatre, "task-20260102-two"), what="the answer")
        await stage.idle()

    theatre.play(steps)
    assert _answers(theatre, "task-20260101-one") == [("answer", "title")]
    assert _answers(theatre, "task-20260102-two") == [("reject", "slow")]
    assert [one[:2] for one in begun] == [("resume", "task-20260101-one"), ("resume", "task-20260102-two")]


def test_escape_leaves_a_task_waiting(theatre: Theatre, begun: list[tuple[str, ...]]) -> None:
    _waiting(theatre, "task-20260101-one", kind="approval")

    async def steps(stage: Stage) -> None:
        await stage.say("/resolve")
        await stage.modal("QuestionScreen")
        await stage.pilot.press(*"reject", "enter")
        await stage.until(lambda: "Why not?" in stage.text(), what="the reason")
        await stage.pilot.press("escape")
        await stage.until(lambda: "What about" in stage.text(), what="the question again")
        await stage.pilot.press("escape")
        await stage.idle()

    theatre.play(steps)
    assert (begun, _answers(theatre, "task-20260101-one")) == ([], [])


def test_help_opens_and_closes_and_the_input_goes_on(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.type("half a mess")
        await stage.pilot.press("f1")
        await stage.modal("HelpScreen")
        await stage.pilot.press("pagedown", "escape")
        await stage.type("age", "enter")
        await stage.idle()
        assert stage.app.engine.chat.state.talk.said == "half a message"

    theatre.play(steps, {"text": "Well."})


def test_a_restore_shows_its_diff_and_asks(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("/checkpoint before")
        await stage.idle()
        await stage.say("write")
        await stage.idle()
        await stage.say("/restore before")
        await stage.modal("ApprovalScreen")

        assert "- hello" in stage.text()
        await stage.pilot.press("y")
        await stage.idle()
        assert not (theatre.repo / "new.txt").exists()

    theatre.options["approval"] = "auto"
    theatre.play(steps, WRITE, {"text": "Done."})
