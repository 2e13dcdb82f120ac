"""Proves what a day's work on the screen needs beside its keys: thinking in sight, words that were cut off, plans, resuming."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

import pytest

from agentforge.app.sessions.display import standing
from agentforge.tui import flow
from agentforge.tui.rows import CallRow
from tests.support.loopback.provider import LoopbackProvider, Say
from tests.tui.conftest import Stage, Theatre


def test_thinking_is_seen_while_it_comes_and_is_one_line_afterwards(
    theatre: Theatre, loopback: LoopbackProvider
) -> None:
    loopback.plan(Say(thinking="I weigh it. " * 300 + "Now I know.", text="Fine.", pieces=9, pause_s=0.005))
    theatre.options["model"] = "custom/any"

    async def steps(stage: Stage) -> None:
        await stage.say("go")
        await stage.until(lambda: "● thinks" in stage.text() and stage.text().count("I weigh it.") > 6, what="thinking")
        await stage.idle()
        (row,) = stage.app.query(".thought")
        assert row.line.name == "thought" and row.output.endswith("Now I know.")
        assert stage.text().count("Fine.") == 1 and "Now I know." not in stage.text()

    theatre.play(steps, environ={"BASE_URL": f"{loopback.url}/v1", "API_KEY": "x"})


def test_what_was_said_until_it_was_stopped_reaches_the_model(theatre: Theatre, loopback: LoopbackProvider) -> None:
    loopback.plan(Say(text="word " * 4000, pieces=5, pause_s=0.005), Say(text="Fine."))
    theatre.options["model"] = "custom/any"

    async def steps(stage: Stage) -> None:
        await stage.say("write a lot")
        await stage.until(lambda: "word word" in stage.text())
        await stage.pilot.press("escape")
        await stage.idle()
        await stage.say("why so many?")
        await stage.idle()

    theatre.play(steps, environ={"BASE_URL": f"{loopback.url}/v1", "API_KEY": "x"})
    messages = loopback.asked[-1].body["messages"]
    assert [one["role"] for one in messages[-4:]] == ["user", "assistant", "user", "user"]
    assert messages[-3]["content"].startswith("word word") and "interrupted" in str(messages[-2]["content"])


def test_a_plan_is_approved_with_the_arrows_and_then_no_change_is_asked_about(theatre: Theatre) -> None:
    plan = {"name": "submit_plan", "args": {"plan": "# Why\n\n1. Write `a.py`\n2. Test it"}}
    write = {"name": "write_file", "args": {"path": "a.py", "content": "x = 1\n"}}
    theatre.options["work_mode"] = "plan"

    async def steps(stage: Stage) -> None:
        await stage.say("write a.py")
        await stage.modal("QuestionScreen")
        await stage.until(lambda: "Test it" in stage.text(), what="the plan")
        assert stage.app.screen.query("MarkdownH1") and stage.app.screen.query("MarkdownOrderedList")
        assert "> 1 Approve and build" in stage.text()
        await stage.pilot.press("down")
        await stage.until(lambda: "> 2 Approve, and change files without asking" in stage.text(), what="the cursor")
        await stage.pilot.press("enter")
        await stage.idle()
        assert "build · approval on-failure" in stage.text()

    theatre.play(steps, {"tool_calls": [plan]}, {"tool_calls": [write]}, {"text": "Done."}, size=(100, 40))
    assert (theatre.repo / "a.py").read_text() == "x = 1\n"


def test_who_keeps_planning_is_asked_what_should_be_different_and_the_plan_stays_in_sight(theatre: Theatre) -> None:
    steps_of_it = "\n".join(f"{number}. Write `a{number}.py`" for number in range(1, 30))
    plan = {"name": "submit_plan", "args": {"plan": f"# Why\n\n{steps_of_it}\n30. Test it"}}
    theatre.options["work_mode"] = "plan"

    async def steps(stage: Stage) -> None:
        await stage.say("write a.py")
        screen = await stage.modal("QuestionScreen")
        await stage.until(lambda: "or a number, or your own words" in stage.text(), what="the whole card")
        await stage.pilot.press("down", "down", "enter")
        await stage.until(lambda: "what should be different?" in stage.text(), what="the field for words")
        assert stage.app.screen is screen
        await stage.pilot.press(*"b.py", "enter")
        await stage.idle()
        assert "Test it" in stage.text() and "you declined" not in stage.text()

    app = theatre.play(steps, {"tool_calls": [plan]}, {"text": "I see."}, size=(80, 24))
    (told,) = [entry.text for entry in app.engine.chat.state.talk.entries if entry.kind == "tool"]
    assert told.endswith("said: b.py")


def test_a_command_of_ones_own_that_is_stopped_does_not_look_as_if_it_ran_on(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("!echo begun; sleep 77")
        await stage.until(lambda: "begun" in stage.text().replace("echo begun", ""), what="the command")
        await stage.pilot.press("escape")
        await stage.idle()
        (row,) = stage.app.query(CallRow)
        assert row.line.status == "denied"

    theatre.play(steps, {"text": "Fine."}, size=(100, 40))


def test_whoever_was_typing_as_a_question_came_up_chooses_nothing_by_enter(theatre: Theatre) -> None:
    asks = {"name": "ask_human", "args": {"question": "Which?", "options": ["one", "two"]}}

    async def steps(stage: Stage) -> None:
        stage.app.prompt.insert("half a sen")
        await stage.app.give("go")
        screen = await stage.modal("QuestionScreen")
        await stage.pilot.press("enter")
        assert stage.app.screen is screen
        await stage.pilot.press("down", "enter")
        await stage.idle()

    app = theatre.play(steps, {"tool_calls": [asks]}, {"text": "Done."})
    (entry,) = [one for one in app.engine.chat.state.talk.entries if one.kind == "tool"]
    assert "one" in entry.text and "two" not in entry.text


def test_a_resumed_session_shows_words_and_not_what_went_with_them(theatre: Theatre) -> None:
    pasted = "\n".join(f"line {number}" for number in range(40))

    async def steps(stage: Stage) -> None:
        stage.app.prompt.paste(pasted)
        await stage.type(" what is it? @textkit.py", "enter")
        await stage.idle()

    async def again(stage: Stage) -> None:
        await stage.until(lambda: "Lines." in stage.text(), what="the answer")
        assert "[pasted 1: 40 lines" in stage.text() and "what is it?" in stage.text()
        assert "line 39" not in stage.text() and "def shout" not in stage.text()

    session = theatre.play(steps, {"text": "Lines."}).engine.chat.session_id
    theatre.play(again, session=session)


def test_a_server_that_is_added_meanwhile_is_in_the_picker_and_shows_what_it_offers(theatre: Theatre) -> None:
    pytest.importorskip("mcp")
    server = Path(__file__).parents[1] / "tools" / "fixtures" / "odd_server.py"
    (theatre.repo / "odd_server.py").write_text(server.read_text())

    async def steps(stage: Stage) -> None:
        await stage.say("/mcp")
        await stage.until(lambda: "There are no MCP servers" in stage.text(), what="none")
        settings = Path(theatre.environ["AGENTFORGE_HOME"]) / "config" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f"[mcp_servers.odd]\ncommand = '{sys.executable}'\nargs = ['-S', 'odd_server.py']\n")
        await stage.idle()
        await stage.say("/mcp")
        await stage.modal("Picker")
        assert "odd: show what it offers" in stage.text() and "not started yet" in stage.text()
        assert "log in" not in stage.text(), "it has no address"
        await stage.pilot.press(*"offers", "enter")
        await stage.idle()
        await stage.until(lambda: "memo://today" in stage.text(), what="its resource")
        assert "tool odd__greet" in stage.text() and "prompt review" in stage.text()
        await stage.say("/mcp")
        await stage.modal("Picker")
        assert "connected, " in stage.text()
        await stage.pilot.press("escape")

    theatre.play(steps, size=(100, 30))


def test_a_resumed_session_shows_own_commands_as_they_were(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("!echo from the shell; exit 3")
        await stage.idle()
        await stage.say("what was that?")
        await stage.idle()

    async def again(stage: Stage) -> None:
        await stage.until(lambda: "An echo." in stage.text(), what="the answer")
        assert "✗ ! echo from the shell; exit 3  exit 3" in stage.text()
        assert stage.text().count("from the shell") == 2, "the line, and what it wrote"
        assert "untrusted" not in stage.text() and "I ran this" not in stage.text()

    session = theatre.play(steps, {"text": "An echo."}).engine.chat.session_id
    theatre.play(again, session=session)


def test_the_report_of_a_subagent_is_what_its_line_opens_to(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("look")
        await stage.idle()
        first, second = [row for row in stage.app.query(CallRow) if row.line.argument == "look"]
        for row, report in ((first, "Report on one."), (second, "Report on two.")):
            assert report not in stage.text()
            row.action_open()
            await stage.until(lambda report=report: report in stage.text(), what=report)

    explore, plan = ({"name": f"subagent_{name}", "args": {"goal": "look"}} for name in ("explore", "test_planner"))
    search = {"name": "tool_search", "args": {"query": "subagent"}}
    theatre.write_play(
        {
            "chat": [{"tool_calls": [search]}, {"tool_calls": [explore, plan]}, {"text": "Done."}],
            "explore": [{"text": "Report on one."}],
            "test_planner": [{"text": "Report on two."}],
        }
    )
    theatre.play(steps, size=(120, 40))


def test_a_plan_that_the_keys_led_to_is_built_with_questions_as_before(theatre: Theatre) -> None:
    plan = {"name": "submit_plan", "args": {"plan": "1. Write `a.py`"}}

    async def steps(stage: Stage) -> None:
        for mode in ("approval on-failure", "approval auto", "plan · approval on-request"):
            await stage.pilot.press("shift+tab")
            await stage.until(lambda mode=mode: mode in stage.text(), what=mode)
        await stage.say("write a.py")
        await stage.modal("QuestionScreen")
        await stage.pilot.press("enter")
        await stage.idle()
        assert "build · approval on-request" in stage.text()

    theatre.play(steps, {"tool_calls": [plan]}, {"text": "Done."}, size=(100, 40))


def test_a_script_is_shown_once_in_its_approval(theatre: Theatre) -> None:
    script = 'python3 -c "\n' + "\n".join(f"print({number})" for number in range(40)) + '"\n'

    async def steps(stage: Stage) -> None:
        await stage.say("run it")
        await stage.modal("ApprovalScreen")
        rows = [str(row.visual) for row in stage.app.screen.query(".offer")]
        assert rows and all(len(row.splitlines()) <= 3 for row in rows)
        await stage.pilot.press("n", *"no", "enter")
        await stage.idle()

    theatre.play(steps, {"tool_calls": [{"name": "shell", "args": {"command": script}}]}, {"text": "Fine."})


def test_the_gauge_counts_what_is_being_asked(
    theatre: Theatre, loopback: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = Event()
    loopback.plan(Say(text="word " * 40, pieces=40, held=rest))
    theatre.options["model"] = "custom/any"
    monkeypatch.setattr(flow, "standing", standing)

    async def steps(stage: Stage) -> None:
        assert "context 0%" in stage.text()
        await stage.say("look")
        await stage.until(lambda: "word" in stage.text(), what="the first words")
        assert stage.app.busy and "context 0%" not in stage.text()
        rest.set()
        await stage.idle()

    theatre.play(steps, environ={"BASE_URL": f"{loopback.url}/v1", "API_KEY": "x"})


def test_the_end_of_a_background_command_is_told_while_nobody_says_anything(theatre: Theatre) -> None:
    waits = {
        "name": "shell",
        "args": {"command": "until test -e go; do sleep 0.1; done; echo over", "background": True},
    }
    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say("begin")
        await stage.idle()
        assert "1 in the background" in stage.text()
        (theatre.repo / "go").touch()
        await stage.until(lambda: "ended: exit 0" in stage.text(), what="the end")
        assert "in the background" not in stage.text().replace("background command", "")
        await stage.say("well?")
        await stage.idle()
        assert stage.text().count("background command 1 (until test") == 1, "it is told once"

    app = theatre.play(steps, {"tool_calls": [waits]}, {"text": "It runs."}, {"text": "It has ended."}, size=(120, 40))
    assert any("background command 1" in entry.text for entry in app.engine.chat.state.talk.entries)

    async def again(stage: Stage) -> None:
        await stage.until(lambda: "It has ended." in stage.text(), what="the conversation")
        assert "over" in stage.text() and "untrusted" not in stage.text()

    theatre.play(again, session=app.engine.chat.session_id, size=(120, 40))


def test_the_end_of_a_turn_names_what_it_changed_and_what_checked_it(theatre: Theatre) -> None:
    write = {"name": "write_file", "args": {"path": "a.py", "content": "x = 1\n"}}
    run = {"name": "shell", "args": {"command": "python3 a.py"}}
    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say("write a.py")
        await stage.idle()
        assert "Changed: a.py" in stage.text() and "Checked: python3 a.py (exit 0" in stage.text()

    theatre.play(steps, {"tool_calls": [write, run]}, {"text": "Done."}, size=(100, 40))


def test_compacting_is_told_once(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        for word in ("one", "two", "three"):
            await stage.say(word)
            await stage.idle()
        await stage.say("/compact")
        await stage.until(lambda: "ummar" in stage.text(), what="the answer")
        await stage.idle()
        assert stage.text().count("ummar") == 1, stage.text()

    theatre.play(steps, *({"text": "word " * 3000} for _ in range(3)), {"text": "Words."}, size=(100, 40))


def test_while_the_person_is_asked_nothing_else_seems_to_go_on(theatre: Theatre) -> None:
    plan = {"name": "submit_plan", "args": {"plan": "Write it."}}
    theatre.options["work_mode"] = "plan"

    async def steps(stage: Stage) -> None:
        await stage.say("write a.py")
        await stage.modal("QuestionScreen")
        await stage.until(lambda: "waits for your answer" in stage.text(), what="the line")
        await stage.pilot.press("enter")
        await stage.idle()
        assert "submit_plan  you approved the plan" in stage.text()

    theatre.play(steps, {"tool_calls": [plan]}, {"text": "Done."}, size=(100, 40))


def test_a_number_that_is_no_choice_is_no_answer_before_it_is_meant(theatre: Theatre) -> None:
    asks = {"name": "ask_human", "args": {"question": "How many?", "options": ["one", "none"]}}

    async def steps(stage: Stage) -> None:
        await stage.say("go")
        screen = await stage.modal("QuestionScreen")
        await stage.pilot.press("3", "enter")
        await stage.until(lambda: "there is no choice 3" in stage.text(), what="the doubt")
        assert stage.app.screen is screen
        await stage.pilot.press("enter")
        await stage.idle()

    app = theatre.play(steps, {"tool_calls": [asks]}, {"text": "Done."})
    (entry,) = [one for one in app.engine.chat.state.talk.entries if one.kind == "tool"]
    assert "3" in entry.text and "one" not in entry.text
