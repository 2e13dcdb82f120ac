"""Every screen as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentforge.events.kinds import conversation as conversing

if TYPE_CHECKING:
    from tests.tui.conftest import Stage, Theatre

ANSWER = """\
## What it does

`shout` turns a text into **upper case**:

```python
def shout(text: str) -> str:
    return text.upper()
```

- one function
- no tests yet

| name | lines |
| --- | --- |
| textkit.py | 3 |
"""


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "args": arguments}


LOOK = {"text": "I look.", "tool_calls": [call("read_file", path="textkit.py"), call("grep", pattern="upper")]}
EDIT = {
    "tool_calls": [
        call("edit", path="textkit.py", old_string="text.upper()", new_string='text.upper() + "!"'),
        call("read_file", path="missing.py"),
    ]
}
COMMIT = {"tool_calls": [call("shell", command="git add textkit.py")]}


@pytest.mark.parametrize("size", [(80, 24), (160, 50), (20, 20), (40, 10)])
def test_a_new_session(theatre: Theatre, size: tuple[int, int]) -> None:
    async def steps(stage: Stage) -> None:
        await stage.picture(f"new-{size[0]}x{size[1]}")

    theatre.play(steps, size=size)


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_an_answer_with_calls(theatre: Theatre, size: tuple[int, int]) -> None:
    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say("what does @textkit.py do?")
        await stage.idle()
        await stage.picture(f"answer-{size[0]}x{size[1]}")

    theatre.play(steps, LOOK, EDIT, {"text": ANSWER}, size=size)


def test_while_it_streams(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        app = stage.app
        app.busy = True
        await app.transcript.said("explain")
        app.working.begin()
        await app.transcript.stream(ANSWER[:60])
        await stage.say("and the tests?")
        app.working._clock.pause()
        await stage.pilot.pause()
        await stage.picture("streaming")
        app.busy = False

    theatre.play(steps)


def test_an_opened_call_shows_its_diff(theatre: Theatre) -> None:
    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say("change it")
        await stage.idle()
        rows = list(stage.app.query("CallRow"))
        rows[0].focus()
        await stage.pilot.press("enter")
        await stage.pilot.press("ctrl+o")
        await stage.pilot.pause()
        await stage.picture("opened")

    theatre.play(steps, EDIT, {"text": "Done."})


@pytest.mark.parametrize("size", [(80, 24), (160, 50), (40, 12)])
def test_an_approval(theatre: Theatre, size: tuple[int, int]) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("commit it")
        await stage.modal("ApprovalScreen")
        await stage.picture(f"approval-{size[0]}x{size[1]}")
        await stage.pilot.press("n")
        await stage.type("")
        if size == (80, 24):
            await stage.picture("approval-reason")

    theatre.play(steps, COMMIT, {"text": "Well."}, size=size)


def test_an_approval_of_a_change(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("change it")
        await stage.modal("ApprovalScreen")
        await stage.picture("approval-diff")

    theatre.play(steps, EDIT, {"text": "Well."})


def test_a_question(theatre: Theatre) -> None:
    from agentforge.tui.questions import QuestionScreen

    async def steps(stage: Stage) -> None:
        stage.app.push_screen(QuestionScreen("Which name do you want?", ("slugify", "to_slug")))
        await stage.modal("QuestionScreen")
        await stage.picture("question")

    theatre.play(steps)


def test_help(theatre: Theatre, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentforge.app import slash
    from agentforge.app.slash import help as one_family

    monkeypatch.setattr(slash, "commands", lambda: {command.name: command for command in one_family.COMMANDS})

    async def steps(stage: Stage) -> None:
        await stage.pilot.press("f1")
        await stage.modal("HelpScreen")
        await stage.picture("help")

    theatre.play(steps)


def test_completion(theatre: Theatre) -> None:
    (theatre.repo / "tests").mkdir()
    (theatre.repo / "tests" / "test_textkit.py").write_text("")

    async def steps(stage: Stage) -> None:
        await stage.type("look at @text")
        await stage.until(lambda: stage.app.prompt.completing, what="completion")
        await stage.picture("completion")

    theatre.play(steps)


def test_an_error(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("go")
        await stage.idle()
        await stage.picture("error")

    theatre.play(steps, {"error": {"status": 401, "message": "the key is wrong"}})


def test_todos_and_subagents(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        log = stage.app.engine.chat.log
        todos = {"1": {"text": "read it", "done": True}, "2": {"text": "write it", "done": False}}
        log.append(conversing.TodosChanged(todos=todos))
        log.append(conversing.ChildStarted(child="c1", name="explore", goal="find the callers of shout"))
        log.append(conversing.ChildStarted(child="c2", name="test_planner", goal="plan the tests"))
        log.append(conversing.ChildFinished(child="c1", name="explore", outcome="completed", duration_ms=2100))
        await stage.until(lambda: len(stage.app.query("CallRow")) == 2)
        await stage.until(lambda: "completed" in stage.text())
        await stage.picture("todos")

    theatre.play(steps)


@pytest.mark.parametrize("theme", ["light", "contrast"])
def test_themes(theatre: Theatre, theme: str) -> None:
    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say(f"/theme {theme}")
        await stage.say("change it")
        await stage.idle()
        await stage.pilot.press("shift+tab", "enter")
        await stage.picture(f"theme-{theme}")

    theatre.play(steps, LOOK, EDIT, {"text": ANSWER})


def test_without_utf8_everything_is_ascii(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("commit it")
        await stage.modal("ApprovalScreen")
        await stage.picture("ascii")
        assert stage.text().isascii()
        await stage.pilot.press("escape")
        await stage.idle()
        assert "| a" in stage.text() and "* naive - cafe" in stage.text()
        assert stage.text().isascii()

    answer = {"text": "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n- naïve — café\n" + "- more\n" * 40 + "- naïve — café"}
    theatre.play(steps, LOOK, COMMIT, answer, environ={"LANG": "C"})


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_a_light_terminal(theatre: Theatre, size: tuple[int, int]) -> None:
    async def steps(stage: Stage) -> None:
        stage.app.choices.set_theme("light")
        await stage.say("what does @textkit.py do?")
        await stage.modal("ApprovalScreen")
        await stage.picture(f"light-approval-{size[0]}x{size[1]}")
        await stage.pilot.press("y")
        await stage.idle()
        await stage.picture(f"light-answer-{size[0]}x{size[1]}")

    theatre.play(steps, LOOK, EDIT, {"text": ANSWER}, size=size)
