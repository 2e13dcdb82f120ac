"""Ctrl+B: a command that runs goes to the background, the turn goes on, and the command is looked at, stopped and told of there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from agentforge.tui.rows import CallRow
from agentforge.workspace.sandbox.box import landlock_missing_because
from tests.tui.conftest import Stage, Theatre

SERVES = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo late; exit 3"


def _shell(command: str, **more: object) -> dict[str, Any]:
    return {"tool_calls": [{"name": "shell", "args": {"command": command, **more}}]}


def _told(stage: Stage, kind: str) -> list[str]:
    return [entry.text for entry in stage.app.engine.chat.state.talk.entries if entry.kind == kind]


async def _sent_away(stage: Stage, words: str = "begun") -> None:
    """Wait until a command runs, and send it to the background."""
    await stage.until(lambda: any(words in row._live for row in stage.app.query(CallRow)), what="the command")
    await stage.pilot.press("ctrl+b")


@pytest.fixture
def unasked(theatre: Theatre) -> Theatre:
    """Nobody is asked about commands."""
    theatre.options["approval"] = "auto"
    return theatre


def test_the_turn_goes_on_at_once_and_the_result_names_the_job(unasked: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("serve")
        await stage.until(lambda: "^B to the background" in stage.text(), what="the hint")
        await _sent_away(stage)
        await stage.idle()
        assert "sent to the background as 1" in stage.text() and "1 in the background" in stage.text()
        assert "On I go." in stage.text() and "Checked" not in stage.text()
        (result,) = _told(stage, "tool")
        assert "begun" in result and "The user sent this command to the background" in result
        assert "late" not in result and "exit" not in result
        await stage.say("/tasks")
        await stage.until(lambda: "runs for" in stage.text() and "/tasks stop ID" in stage.text(), what="the list")
        await stage.say("/tasks 1")
        await stage.until(lambda: stage.text().count("begun") > 2, what="what it wrote")

    unasked.play(steps, _shell(SERVES), {"text": "On I go."}, size=(100, 60))


def test_its_end_arrives_as_a_note_for_the_person_and_the_model(unasked: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("serve")
        await _sent_away(stage)
        await stage.idle()
        (unasked.repo / "go").touch()
        await stage.until(lambda: "ended: exit 3" in stage.text(), what="the end")
        assert "background command 1 (echo begun; while" in stage.text()
        await stage.say("and?")
        await stage.idle()
        (note,) = _told(stage, "note")
        assert "ended: exit 3" in note and "late" in note and "begun\n" not in note

    unasked.play(steps, _shell(SERVES), {"text": "On I go."}, {"text": "It is over."}, size=(100, 60))


def test_it_is_stopped_by_its_name_and_escape_does_not_reach_it(unasked: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("serve")
        await _sent_away(stage)
        await stage.until(lambda: "sleep 77" in stage.text(), what="the next command")
        await stage.pilot.press("escape")
        await stage.idle()
        assert stage.app.engine.chat.workshop.running() == ("1",)
        await stage.say("/tasks stop 1")
        await stage.idle()
        assert "Stopped: 1." in stage.text() and stage.app.engine.chat.workshop.running() == ()

    unasked.play(steps, _shell(SERVES), _shell("sleep 77"), {"text": "Well."}, size=(100, 60))


def test_it_has_no_time_limit_any_more(unasked: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("serve")
        await _sent_away(stage)
        await stage.idle()
        commands = stage.app.engine.chat.workshop.left_running.commands
        await stage.until(lambda: commands.glances()[0].seconds > 2, what="the end of its time limit")
        assert commands.running() == ("1",)

    unasked.play(steps, _shell(SERVES, timeout=1), {"text": "On I go."})


def test_what_it_serves_is_reached_by_the_commands_that_follow(unasked: Theatre) -> None:
    serve = "echo begun; exec python3 -u -m http.server 8765 --bind 127.0.0.1"
    ask = (
        "for n in $(seq 100); do python3 -c 'import urllib.request as u;"
        'print("served" in u.urlopen("http://127.0.0.1:8765/served.txt").read().decode())\' 2>/dev/null && break; sleep 0.1; done'
    )
    (unasked.repo / "served.txt").write_text("served")

    async def steps(stage: Stage) -> None:
        await stage.say("serve")
        await _sent_away(stage)
        await stage.idle()
        assert "True" in _told(stage, "tool")[-1]

    unasked.play(steps, _shell(serve), _shell(ask, timeout=30), {"text": "It serves."})


def test_what_others_make_meanwhile_is_not_removed_when_it_ends(unasked: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("serve")
        await _sent_away(stage)
        await stage.idle()
        (unasked.repo / ".envrc").write_text("export MINE=1\n")
        (unasked.repo / "go").touch()
        await stage.until(lambda: "ended: exit 3" in stage.text(), what="the end")
        assert (unasked.repo / ".envrc").is_file()

    unasked.play(steps, _shell(SERVES), {"text": "On I go."}, size=(100, 40))


def test_a_command_of_ones_own_goes_there_too_and_stands_so_when_the_session_is_resumed(unasked: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("!echo begun; sleep 77")
        await _sent_away(stage)
        await stage.idle()
        assert "sent to the background as 1" in stage.text()
        await stage.say("go")
        await stage.idle()
        assert any("It goes on in the background as 1" in text for text in _told(stage, "user"))
        assert [row["command"] for row in stage.app.engine.chat.state.talk.background] == ["echo begun; sleep 77"]

    async def again(stage: Stage) -> None:
        await stage.until(lambda: "sent to the background as 1" in stage.text(), what="the line of the command")
        assert stage.app.engine.chat.workshop.running() == ()

    session = unasked.play(steps, {"text": "Fine."}, size=(100, 40)).engine.chat.session_id
    unasked.play(again, session=session, size=(100, 40))


def test_where_nothing_can_go_there_the_key_says_so_or_moves_the_cursor(unasked: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.type("abd", "ctrl+b", "c")
        assert stage.app.prompt.text == "abcd"
        stage.app.prompt.clear_all()
        await stage.say("go")
        await stage.modal("QuestionScreen")
        await stage.pilot.press("ctrl+b")
        await stage.pilot.press("escape")
        await stage.idle()
        for _ in range(8):
            stage.app.engine.chat.workshop.left_running.commands.start("sleep 77", cwd=".")
        await stage.say("!echo begun; sleep 78")
        await _sent_away(stage)
        await stage.until(lambda: "8 background commands run already" in stage.text(), what="the complaint")
        await stage.pilot.press("escape")
        await stage.idle()

    asks = {"tool_calls": [{"name": "ask_human", "args": {"question": "Which?"}}]}
    unasked.play(steps, asks, {"text": "Fine."}, size=(100, 40))


def test_what_only_shows_something_is_answered_while_the_turn_goes_on(unasked: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("serve")
        await _sent_away(stage)
        await stage.until(lambda: "sleep 78" in stage.text(), what="the next command")
        await stage.say("/tasks")
        await stage.modal("LookScreen")
        await stage.until(lambda: "1: echo begun" in stage.text() and "runs for" in stage.text(), what="the list")
        await stage.pilot.press("escape")
        assert stage.app.busy
        await stage.say("/tasks stop 1")
        await stage.modal("LookScreen")
        await stage.until(lambda: "Stopped: 1." in stage.text(), what="the answer")
        await stage.pilot.press("escape")
        await stage.say("words for the turn")
        await stage.until(lambda: "next step: words for the turn" in stage.text(), what="the steering")
        await stage.pilot.press("escape")
        await stage.idle()
        assert stage.app.engine.chat.workshop.running() == ()

    unasked.play(steps, _shell(SERVES), _shell("sleep 78"), {"text": "Well."}, size=(100, 40))


def test_landlock_holds_no_command_beside_others_and_the_key_says_so(unasked: Theatre) -> None:
    if missing := landlock_missing_because():
        pytest.skip(missing)
    shutil.rmtree(unasked.repo / ".git")  # which it cannot protect for root
    settings = Path(unasked.environ["AGENTFORGE_HOME"]) / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[sandbox]\nkind = "landlock"\n')

    async def steps(stage: Stage) -> None:
        await stage.say("serve")
        await _sent_away(stage)
        await stage.until(lambda: "nothing goes to the background" in stage.text(), what="the complaint")
        assert "^B to the background" not in stage.text()
        (unasked.repo / "go").touch()
        await stage.idle()
        assert "exit 3" in stage.text()

    unasked.play(steps, _shell(SERVES), {"text": "On I go."}, size=(100, 40))
