"""What a conversation tells of its work: changed files, checks, what ran in the background, what subagents do and cost."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from agentforge.app.sessions.headless import Mark, child_line, event_lines, result_value
from agentforge.app.sessions.person import Nobody
from agentforge.cli.output.terminal import Style
from agentforge.cli.plain.person import PlainPerson
from agentforge.events import kinds
from agentforge.store.log.reader import read
from tests.support.people import requests_of, texts_of

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState
    from tests.support.people import Open


def _call(name: str, **args: object) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": args}]}


def _script(*calls: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"chat": [*calls, {"text": "Done."}, {"text": "Again."}], **others}


def test_a_turn_ends_with_the_changed_files_and_with_what_ran_after_the_last_change(opened: Open) -> None:
    calls = (
        _call("write_file", path="a.py", content="print(1)\n"),
        _call("shell", command="python3 a.py"),
        _call("write_file", path="b.py", content="print(2)\n"),
        _call("shell", command="cat b.py"),
        _call("shell", command="python3 b.py; exit 3"),
    )
    chat = opened(_script(*calls), approval="yolo")
    result = chat.say("write")
    assert chat.work.changed == ("a.py", "b.py")
    assert len(chat.work.checked) == 1 and chat.work.checked[0].startswith("python3 b.py; exit 3 (exit 3")
    value = result_value(chat, result, since=Mark.of(chat.state), duration_ms=0)
    assert (value["files_changed"], len(value["checked"])) == (["a.py", "b.py"], 1)
    chat.say("and now")
    assert chat.work.lines() == ()


def test_a_change_that_nothing_was_run_after_is_told_as_such(opened: Open) -> None:
    chat = opened(_script(_call("write_file", path="a.py", content="x = 1\n")), approval="yolo")
    chat.say("write")
    assert chat.work.lines() == ("Changed: a.py", "Checked: nothing was run after the last change")


def test_what_a_background_command_wrote_at_its_end_reaches_the_model_as_a_note(opened: Open) -> None:
    secret = "ghp" + "_" + "q7Gd2kLm9XpT4vBn8WsR3yZc6HfJ5aEu1oQi"
    calls = (
        _call("shell", command=f"echo {secret}; echo the-end", background=True),
        _call("jobs", action="read", id="1", timeout=60),
        _call("shell", command="echo only-this", background=True),
        _call("list_dir", path="."),
    )
    chat = opened(_script(*calls), approval="yolo")
    chat.say("run it")
    chat.workshop.left_running.commands.read("2", wait_s=60)  # it has ended; what it wrote counts as read
    chat.say("and now")
    texts = [text for _, text in texts_of(requests_of(chat)[-1])]
    notes = [text for text in texts if "The background command" in text]
    assert len(notes) == 2 and "It wrote nothing that you have not read" in notes[0]
    assert secret not in "".join(texts)


def test_output_that_nobody_read_stands_in_the_note_and_in_front_of_it_its_size(opened: Open) -> None:
    calls = (
        _call("shell", command="echo early; while [ ! -e go ]; do sleep 0.05; done; echo late", background=True),
        _call("jobs", action="read", id="1"),
    )
    chat = opened(_script(*calls), approval="yolo")
    chat.say("run it")
    (chat.workshop.root / "go").touch()
    commands = chat.workshop.left_running.commands
    commands._find("1").wait(60)
    assert "bytes of output that you have not read" in chat.workshop.situation(chat.state)
    chat.say("and now")
    notes = [text for _, text in texts_of(requests_of(chat)[-1]) if "The background command" in text]
    assert len(notes) == 1 and "ended: exit 0" in notes[0] and "late" in notes[0]
    (ended,) = [one.event for one in read(chat.log.folder) if isinstance(one.event, kinds.BackgroundEnded)]
    assert ended.output is not None and "<untrusted" in ended.output


def test_an_end_that_was_recorded_before_there_were_notes_adds_nothing_to_the_history(opened: Open) -> None:
    chat = opened()
    chat.say("hello")
    before = chat.state.talk.entries
    chat.log.append(kinds.BackgroundEnded(name="1", outcome="exit 0"))
    assert chat.state.talk.entries == before


def _delegating() -> dict[str, Any]:
    return _script(
        _call("subagent_explore", goal="find a"),
        explore=[_call("list_dir", path="."), _call("grep", pattern="a"), {"text": "It is in a.py."}],
    )


def test_what_a_subagent_does_and_costs_is_told_line_by_line(opened: Open) -> None:
    out = io.StringIO()
    chat = opened(_delegating(), PlainPerson(out, style=Style(columns=200, colour=False, unicode=False), ask=None))
    chat.say("delegate")
    told = out.getvalue().splitlines()
    assert any("explore list_dir ." in line and "[1 model calls," in line for line in told)
    assert any("explore grep a" in line and "[2 model calls," in line for line in told)
    assert any("explore ended: completed (3 model calls," in line for line in told)


def test_what_a_subagent_does_and_costs_are_lines_of_a_stream(opened: Open) -> None:
    lines: list[dict[str, Any]] = []

    def heard(event: kinds.Event, state: RunState) -> None:
        lines.extend(event_lines(event, state))

    def child(name: str, event: kinds.Event, state: RunState) -> None:
        lines.extend(filter(None, [child_line(name, event, state)]))

    opened(_delegating(), Nobody(heard=heard, child=child)).say("delegate")
    told = [line for line in lines if str(line.get("subtype", "")).startswith("subagent_")]
    assert [line["subtype"].removeprefix("subagent_") for line in told] == [
        "started",
        "progress",
        "progress",
        "finished",
    ]
    assert {line["child"] for line in told} == {told[0]["child"]}
    assert told[1]["tool_name"] == "list_dir" and told[2]["usage"]["input_tokens"] > told[1]["usage"]["input_tokens"]
    assert told[3]["usage"]["llm_calls"] == 3
