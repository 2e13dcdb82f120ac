"""What the hands of people who come from other agents expect of the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("textual")

from agentforge.events import kinds
from agentforge.store.log.reader import read
from agentforge.tui.app import ScreenApp
from agentforge.tui.diffs import DiffView, parts_of

if TYPE_CHECKING:
    from tests.tui.conftest import Stage, Theatre


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": arguments}]}


EDIT = call("edit", path="textkit.py", old_string="text.upper()", new_string='text.upper() + "!"')
COMMIT = call("shell", command="git add textkit.py")


def events(stage: Stage) -> list[Any]:
    return [record.event for record in read(stage.app.engine.chat.log.folder)]


def test_what_is_said_while_the_agent_works_reaches_its_next_step(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("begin")
        await stage.modal("ApprovalScreen")
        await stage.app.give("in Latin, please: see @textkit.py")
        await stage.until(lambda: "next step: in Latin" in stage.app.queue.visual.markup, what="it waits")  # type: ignore[attr-defined]
        await stage.pilot.press("y")
        await stage.idle()
        talk = stage.app.engine.chat.state.talk
        assert talk.turn == 1, "the turn went on"
        kinds_of = [entry.kind for entry in talk.entries]
        assert kinds_of == ["user", "assistant", "tool", "user", "assistant"]
        assert "in Latin" in talk.entries[3].text and "def shout" in talk.entries[3].text
        (steered,) = [event for event in events(stage) if isinstance(event, kinds.UserSteered)]
        assert (steered.text, steered.sources) == ("in Latin, please: see @textkit.py", ("repository",))
        assert not stage.app.queue.has_class("shown") and "in Latin, please" in stage.text()

    theatre.play(steps, COMMIT, {"text": "Factum est."})


def test_words_that_came_too_late_for_the_turn_are_said_next_and_in_order(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        chat = stage.app.engine.chat
        before = chat.workshop.arrived
        chat.workshop.arrived = tuple  # nobody reads them within the turn
        await stage.say("begin")
        await stage.modal("ApprovalScreen")
        await stage.app.give("second")
        await stage.app.give("/todos")
        await stage.app.give("third")
        await stage.pilot.press("y")
        await stage.until(lambda: chat.state.talk.turn == 3, what="both were said")
        await stage.idle()
        assert [event.text for event in events(stage) if isinstance(event, kinds.UserSaid)] == [
            "begin",
            "second",
            "third",
        ]
        chat.workshop.arrived = before

    theatre.play(steps, COMMIT, {"text": "One."}, {"text": "Two."}, {"text": "Three."})


def test_up_takes_back_what_waits(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        stage.app.busy = stage.app.turning = True
        await stage.say("one")
        await stage.say("/todos")
        await stage.pilot.press("up")
        assert stage.app.prompt.text == "one\n/todos"
        assert stage.app.engine.chat.inbox.taken_back() == []
        stage.app.busy = stage.app.turning = False

    theatre.play(steps)


def test_a_long_paste_that_comes_back_into_the_input_is_still_whole(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        stage.app.prompt.paste("line\n" * 50)
        stage.app.busy = True
        await stage.pilot.press("enter", "up")
        stage.app.busy = False
        assert stage.app.prompt.text.startswith("[pasted 1")
        await stage.pilot.press("enter")
        await stage.idle()
        assert "line\n" * 50 in stage.app.engine.chat.state.talk.entries[0].text

    theatre.play(steps, {"text": "Hm."})


def test_a_mode_that_is_switched_within_a_turn_holds_from_the_next_step(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("begin")
        await stage.modal("ApprovalScreen")
        stage.app.flow.next_mode()
        await stage.until(lambda: "approval on-failure" in stage.app.status.visual.markup)  # type: ignore[attr-defined]
        await stage.pilot.press("y")
        await stage.idle()
        assert "!" in (theatre.repo / "textkit.py").read_text(), "the edit was not asked about any more"
        answered = [event.tool for event in events(stage) if isinstance(event, kinds.ApprovalAnswered)]
        assert answered == ["shell"]

    theatre.play(steps, COMMIT, EDIT, {"text": "Done."})


def test_shift_tab_in_the_approval_of_an_edit_allows_all_edits(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("change it")
        await stage.modal("ApprovalScreen")
        await stage.pilot.press("shift+tab")
        await stage.idle()
        assert (theatre.repo / "new.txt").read_text() == "x\n"
        assert stage.app.engine.chat.state.talk.settings["approval"] == "on-failure"

    theatre.play(steps, EDIT, call("write_file", path="new.txt", content="x\n"), {"text": "Done."})


def test_always_for_edits_reaches_as_far_as_it_says(theatre: Theatre) -> None:
    (theatre.repo / "src").mkdir()

    async def steps(stage: Stage) -> None:
        await stage.say("write")
        await stage.modal("ApprovalScreen")
        assert "always src/**" in stage.text()
        await stage.pilot.press("a")
        await stage.until(lambda: (theatre.repo / "src" / "b.txt").exists(), what="the second is not asked about")
        screen = await stage.modal("ApprovalScreen")
        assert screen.question.text == "top.txt"
        await stage.pilot.press("escape")
        await stage.idle()
        assert stage.app.engine.chat.desk.rules == ["Edit(src/**)"]

    writes = [call("write_file", path=path, content="x\n") for path in ("src/a.txt", "src/b.txt", "top.txt")]
    theatre.play(steps, *writes, {"text": "Done."})


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_the_approval_of_an_edit_shows_every_changed_line(theatre: Theatre, size: tuple[int, int]) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("change it")
        await stage.modal("ApprovalScreen")
        await stage.until(lambda: "change it" in stage.text(), what="room for what was said")
        shown = stage.text()
        assert "-     return text.upper()" in shown and '+     return text.upper() + "!"' in shown
        assert "y allow once" in shown and "change it" in shown
        await stage.pilot.press("1")
        await stage.until(lambda: '3 +     return text.upper() + "!"' in stage.text(), what="it is in the transcript")
        await stage.idle()

    theatre.play(steps, EDIT, {"text": "Done."}, size=size)


def test_a_resumed_session_shows_the_diffs_of_before(theatre: Theatre) -> None:
    async def first(stage: Stage) -> None:
        await stage.say("change it")
        await stage.modal("ApprovalScreen")
        await stage.pilot.press("shift+tab")
        await stage.idle()
        seen.append([view._parts for view in stage.app.transcript.query(DiffView)])

    async def second(stage: Stage) -> None:
        await stage.until(lambda: "Done." in stage.text(), what="the conversation of before")
        assert '3 +     return text.upper() + "!"' in stage.text()
        seen.append([view._parts for view in stage.app.transcript.query(DiffView)])

    seen: list[object] = []
    write = call("write_file", path="new.txt", content="x\ny\n")
    app = theatre.play(first, EDIT, write, {"text": "Done."})
    theatre.play(second, session=app.engine.chat.session_id)
    assert len(seen[0]) == 2  # type: ignore[arg-type]
    assert seen[0] == seen[1]


def test_a_diff_is_coloured_over_the_whole_width_and_long_lines_go_on(theatre: Theatre) -> None:
    long = "x = '" + "y" * 100 + "'"
    diff = f"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n ---- not a head\n-old\n+{long}\n"
    assert [row.sign for row in parts_of(diff)[0][1]] == [" ", "-", "+"]

    async def steps(stage: Stage) -> None:
        view = DiffView(diff, most=50)
        await stage.app.transcript.mount(view)
        await stage.pilot.pause()
        lines = view._lines(view.size.width)
        assert {line.cell_len for line in lines} == {view.size.width}
        assert len(lines) == 4, "the long line takes two"
        assert all("on #" in str([span.style for span in line.spans]) for line in lines[1:])

    theatre.play(steps)


def test_what_the_model_thought_is_there_folded(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("go")
        await stage.idle()
        (row,) = stage.app.query(".thought")
        assert "thought First I weigh" in stage.text() and "and then the other" not in stage.text()
        row.focus()
        await stage.pilot.press("enter")
        await stage.pilot.pause()
        assert "and then the other" in stage.text()

    theatre.play(
        steps,
        {"thinking": "First I weigh one thing,\n" + "more\n" * 90 + "and then the other.", "text": "Hm."},
        size=(80, 130),
    )


def test_a_running_command_shows_what_it_writes(theatre: Theatre, tmp_path: Path) -> None:
    theatre.options["approval"] = "auto"
    command = "for i in 1 2 3 4 5 6 7; do echo line $i; done; sleep 77"

    async def steps(stage: Stage) -> None:
        await stage.say("go")
        await stage.until(lambda: "line 7" in stage.text(), what="its output")
        assert "2 lines before" in stage.text() and "line 1" not in stage.text()
        await stage.pilot.press("escape")
        await stage.idle()
        assert "line 7" not in stage.text()

    theatre.play(steps, call("shell", command=command), {"text": "Done."})


def test_subagents_are_a_tree_with_what_they_do(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("look")
        await stage.idle()
        shown = stage.text()
        assert len(stage.app.query("CallRow")) == 2, "each stands there once"
        assert shown.count("completed, 2 calls") == 2 and "find one" in shown and "find two" in shown
        row = next(iter(stage.app.query("CallRow")))
        row.change(type(row.line)(name="explore", argument="find"))
        row.stepped("grep shout")
        row.stepped("read_file textkit.py")
        await stage.pilot.pause()
        assert "├ grep shout" in stage.text() and "└ read_file textkit.py" in stage.text()

    spawn = {"name": "subagent_explore"}
    script = {
        "chat": [
            {"tool_calls": [{**spawn, "args": {"goal": f"find {which}"}} for which in ("one", "two")]},
            {"text": "Done."},
        ],
        "explore": [
            {
                "tool_calls": [
                    {"name": "grep", "args": {"pattern": "shout"}},
                    {"name": "list_dir", "args": {"path": "."}},
                ]
            },
            {"text": "Nothing."},
        ],
    }
    theatre.write_play(script)
    theatre.play(steps, size=(120, 40))


def test_the_gauge_is_true_after_resume_and_after_compaction(theatre: Theatre) -> None:
    seen: list[int] = []

    async def first(stage: Stage) -> None:
        await stage.say("hello")
        await stage.idle()
        seen.append(stage.app.flow._context_tokens)

    async def second(stage: Stage) -> None:
        assert stage.app.flow._context_tokens == seen[0] > 500
        await stage.say("/compact")
        await stage.idle()
        (event,) = [event for event in events(stage) if isinstance(event, kinds.HistoryCompacted)] or [None]
        if event is not None:
            assert stage.app.flow._context_tokens == event.fixed + event.tokens_after
        await stage.say("/clear")
        await stage.idle()
        assert stage.app.flow._context_tokens == 0

    app = theatre.play(first, {"text": "word " * 300}, {"text": "A summary."})
    theatre.play(second, session=app.engine.chat.session_id)


def test_matched_skills_are_told(theatre: Theatre) -> None:
    skill = Path(theatre.environ["HOME"]) / "skills" / "shouting"

    async def steps(stage: Stage) -> None:
        match = {"name": skill.name, "reason": "name", "why": "you named it", "file": str(skill), "lines": 3}
        stage.app.engine.chat.log.append(kinds.SessionChanged(changes={"skill_matches": [match]}))
        await stage.until(lambda: "skill shouting: you named it (name), 3 lines of" in stage.text(), what="it is told")

    theatre.play(steps)


def test_init_lets_the_agent_write_its_instructions(theatre: Theatre) -> None:
    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say("/init mind the tests")
        await stage.idle()
        assert (theatre.repo / "AGENTS.md").read_text() == "# Rules\n"
        said = stage.app.engine.chat.state.talk.said
        assert "AGENTS.md" in said and said.endswith("mind the tests")

    theatre.play(steps, call("write_file", path="AGENTS.md", content="# Rules\n"), {"text": "Done."})


def test_context_shows_what_fills_the_window(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("/context")
        await stage.idle()
        shown = stage.text()
        assert "instructions" in shown and "█" in shown and "free" in shown and "░" in shown

    theatre.play(steps)


def test_a_picker_narrows_and_takes(theatre: Theatre) -> None:
    async def first(stage: Stage) -> None:
        await stage.say("about whales")
        await stage.idle()

    async def second(stage: Stage) -> None:
        await stage.say("about lions")
        await stage.idle()
        await stage.say("/resume")
        await stage.modal("Picker")
        assert "about whales" in stage.text()
        await stage.pilot.press(*"whal")
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.engine.chat.session_id == app.engine.chat.session_id, what="it is open")
        await stage.idle()
        assert "about whales" in stage.text() and "One." in stage.text()

    app = theatre.play(first, {"text": "One."}, {"text": "Two."})
    theatre.play(second)


def test_escape_twice_offers_earlier_points_and_restores_the_chosen(theatre: Theatre) -> None:
    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say("change it")
        await stage.idle()
        assert "!" in (theatre.repo / "textkit.py").read_text()
        await stage.pilot.press("escape", "escape")
        await stage.modal("Picker")
        assert "before a change" in stage.text() and "change it" in stage.text()
        await stage.pilot.press("enter")
        await stage.modal("ApprovalScreen")
        await stage.pilot.press("y")
        await stage.idle()
        assert "!" not in (theatre.repo / "textkit.py").read_text()
        await stage.say("/restore 2")
        await stage.modal("ApprovalScreen")
        await stage.pilot.press("escape")
        await stage.idle()

    theatre.play(steps, EDIT, {"text": "Done."})


def test_a_theme_is_chosen_by_looking_at_it(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("/theme")
        await stage.modal("Picker")
        await stage.pilot.press("down", "down")
        await stage.until(lambda: stage.app.theme == "light", what="it is shown at once")
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.theme == "dark", what="it is as it was")
        await stage.say("/theme")
        await stage.modal("Picker")
        await stage.pilot.press(*"light", "enter")
        await stage.until(lambda: stage.app.choices.theme() == "light", what="it is kept")
        await stage.say("/theme auto")
        await stage.until(lambda: stage.app.choices.theme() == "dark", what="the one that fits")

    theatre.play(steps)


def test_the_theme_of_the_settings_counts_more_than_the_one_that_was_chosen_last(theatre: Theatre) -> None:
    (theatre.folder / "home" / "config").mkdir(parents=True)
    (theatre.folder / "home" / "config" / "config.toml").write_text('theme = "contrast"\n')

    async def steps(stage: Stage) -> None:
        assert stage.app.theme == "contrast"
        await stage.say("/theme light")
        await stage.until(lambda: stage.app.theme == "light", what="the one of this session")
        assert stage.app.choices.theme() == "contrast", "the one of the next"
        await stage.until(lambda: "setting theme" in stage.text(), what="the reason is told")

    theatre.play(steps, environ={"COLORFGBG": "0;15"})


def test_a_model_is_chosen_or_typed(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        stage.app.engine.chat.change(model="anthropic/claude-sonnet-4-5")
        await stage.say("/model")
        await stage.modal("Picker")
        assert "claude" in stage.text()
        await stage.pilot.press(*"scripted/script.yaml", "enter")
        await stage.until(lambda: stage.app.engine.chat.workshop.setting("model") == "scripted/script.yaml")
        await stage.idle()

    theatre.play(steps, {"text": "Hm."}, environ={"ANTHROPIC_API_KEY": "x"})


def test_two_escapes_clear_the_input_and_up_brings_it_back(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.type("a long thought", "escape")
        assert stage.app.prompt.text == "a long thought"
        await stage.pilot.press("escape")
        assert stage.app.prompt.text == ""
        await stage.pilot.press("up")
        assert stage.app.prompt.text == "a long thought"

    theatre.play(steps)


def test_what_is_typed_or_pasted_anywhere_reaches_the_input(theatre: Theatre) -> None:
    from textual import events as textual_events

    theatre.options["approval"] = "auto"

    async def steps(stage: Stage) -> None:
        await stage.say("look")
        await stage.idle()
        await stage.pilot.press("tab")
        assert stage.app.focused is not stage.app.prompt
        await stage.pilot.press("h", "i")
        assert stage.app.prompt.text == "hi"
        await stage.pilot.press("tab")
        stage.app.focused.post_message(textual_events.Paste(" there"))
        await stage.until(lambda: stage.app.prompt.text == "hi there")

    theatre.play(steps, call("read_file", path="textkit.py"), {"text": "Seen."})


def test_the_terminal_calls_whoever_looks_elsewhere_when_a_turn_is_over(
    theatre: Theatre, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[bool] = []
    monkeypatch.setattr(ScreenApp, "bell", lambda app: rung.append(app.app_focus))

    async def steps(stage: Stage) -> None:
        await stage.say("one")
        await stage.idle()
        assert rung == []
        stage.app.app_focus = False
        await stage.app.give("two")
        await stage.until(lambda: rung, what="the bell")
        assert rung == [False]

    theatre.play(steps, {"text": "First."}, {"text": "Second."})


def test_exit_leaves_and_is_no_message(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("exit")
        await stage.until(lambda: stage.app.return_code == 0, what="it is left")
        assert not stage.app.engine.chat.state.talk.turn

    theatre.play(steps, {"text": "Hm."})
