"""The screen in a real terminal: bytes in, screen out, where keys and terminals are what matters."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("textual")

from tests.support.screen.terminal import Terminal

pytestmark = pytest.mark.needs("tmux")

ESC, ALT_ENTER, SHIFT_TAB, ENTER = b"\x1b", b"\x1b\r", b"\x1b[Z", b"\r"
CTRL = {letter: bytes([ord(letter) & 0x1F]) for letter in "abcdegjloruwz"}
SLEEP = {"tool_calls": [{"name": "shell", "args": {"command": "echo begun; sleep 77"}}]}

Opened = Callable[..., Terminal]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens the program in a terminal, on a small repository, with a scripted model."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "textkit.py").write_text("def shout(text):\n    return text.upper()\n")
    git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-C", str(repo)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "base"], check=True)
    terminals: list[Terminal] = []

    def open_terminal(
        *replies: dict[str, Any], options: tuple[str, ...] = (), awaited: str = "a new session", **given: Any
    ) -> Terminal:
        if replies:
            (tmp_path / "script.yaml").write_text(yaml.safe_dump({"chat": list(replies)}))
        home = str(tmp_path / "home")
        environ = {
            "HOME": home, "AGENTFORGE_HOME": home, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "TERM": "tmux-256color",
            "SHELL": "/bin/sh", **given.pop("environ", {}),
        }  # fmt: skip
        folder = tmp_path / f"terminal{len(terminals)}"
        folder.mkdir()
        arguments = ("--model", f"scripted/{tmp_path / 'script.yaml'}", *options)
        terminals.append(Terminal(folder, *arguments, cwd=repo, environ=environ, **given))
        terminals[-1].until(awaited)
        return terminals[-1]

    yield open_terminal
    for terminal in terminals:
        terminal.__exit__()


def typed(shown: str) -> list[str]:
    """The lines of the input."""
    return [line.strip("│ ") for line in shown.splitlines() if line.startswith("│")]


def test_what_is_typed_while_the_program_starts_is_the_first_message(opened: Opened) -> None:
    terminal = opened({"text": "Understood."}, awaited="")
    terminal.send(b"hello there\r")
    terminal.until("hello there", "Understood.")


def test_the_screen_begins_with_the_sentence_of_the_command_line(opened: Opened) -> None:
    terminal = opened({"text": "Understood."}, options=("look around first",), awaited="Understood.")
    terminal.until("look around first", "Understood.")


def test_alt_enter_is_a_new_line_and_enter_sends(opened: Opened) -> None:
    terminal = opened({"text": "Understood."})
    terminal.send(b"first" + ALT_ENTER + b"second" + CTRL["j"] + b"third\\" + ENTER + b"fourth")
    assert typed(terminal.until("first", "second", "third", "fourth")) == ["first", "second", "third", "fourth"]
    terminal.send(ENTER)
    terminal.until("Understood.")


def test_keys_take_effect_in_the_order_in_which_they_were_pressed(opened: Opened) -> None:
    terminal = opened()
    terminal.send(b"abx\x7fc" + b"\x1b[D" * 3 + b"0" + CTRL["e"] + b"d two" + CTRL["w"] + b"2" + CTRL["a"] + b"<")
    terminal.until("│ <0abcd 2")


def test_ctrl_underscore_brings_back_what_was_deleted(opened: Opened) -> None:
    terminal = opened()
    terminal.send(b"one two" + CTRL["u"])
    terminal.until("│ Ask, or /")
    terminal.send(b"\x1f")
    terminal.until("│ one two")


def test_escape_stops_the_turn_and_the_session_goes_on(opened: Opened) -> None:
    terminal = opened(SLEEP, {"text": "Fine."}, options=("--approval", "auto"))
    terminal.send(b"go" + ENTER)
    terminal.until("begun")
    terminal.send(ESC)
    terminal.until("stopped; the session goes on")
    terminal.send(b"again" + ENTER)
    terminal.until("Fine.")


def test_ctrl_b_sends_a_command_to_the_background_and_its_end_is_told(opened: Opened) -> None:
    serves = {
        "tool_calls": [{"name": "shell", "args": {"command": "echo begun; while [ ! -e go ]; do sleep 0.1; done"}}]
    }
    terminal = opened(serves, {"text": "On I go."}, options=("--approval", "auto"), size=(100, 30))
    terminal.send(b"serve" + ENTER)
    terminal.until("  begun", "^B to the background")
    terminal.send(CTRL["b"])
    terminal.until("sent to the background as 1", "On I go.", "1 in the background")
    terminal.send(b"/tasks" + ENTER)
    terminal.until("1: echo begun", "runs for")
    terminal.send(b"!touch go" + ENTER)
    terminal.until("background command 1", "ended: exit 0")
    terminal.until("1 in the background", gone=True)
    terminal.send(b"ab" + CTRL["b"] + b"<")
    terminal.until("│ a<b")


def test_ctrl_c_clears_and_twice_leaves(opened: Opened) -> None:
    terminal = opened()
    terminal.send(b"half a message")
    terminal.until("half a message")
    terminal.send(CTRL["c"])
    terminal.until("Press Ctrl+C again to leave")
    terminal.until("half a message", gone=True)
    terminal.send(CTRL["c"])
    assert "left with 0" in terminal.ended()


def test_after_shift_tab_what_is_typed_reaches_the_input(opened: Opened) -> None:
    terminal = opened({"text": "Hm."})
    for mode in ("approval on-failure", "approval auto", "plan ·", "build · approval on-request"):
        terminal.send(SHIFT_TAB)
        terminal.until(mode)
    terminal.send(SHIFT_TAB + b"typed")
    terminal.until("│ typed")
    terminal.send(CTRL["u"] + b"\t" + b"letters")
    terminal.until("│ letters")


def test_fast_typing_is_never_completed_by_what_was_offered_before(opened: Opened) -> None:
    terminal = opened()
    terminal.send(b"/undo\r/redo\r/restore 1\r")
    terminal.until("nothing to undo", "nothing to redo", "there is no checkpoint")
    terminal.send(b"/vers\t\r")
    terminal.until("agentforge 0.")
    terminal.send(b"see @text\t")
    terminal.until("see @textkit.py")


def test_ctrl_r_finds_what_was_typed_before(opened: Opened) -> None:
    terminal = opened({"text": "One."}, {"text": "Two."}, {"text": "Three."})
    for said, answer in ((b"alpha beta", "One."), (b"gamma", "Two.")):
        terminal.send(said + ENTER)
        terminal.until(answer)
    terminal.send(CTRL["r"])
    terminal.until("What you typed before")
    terminal.send(b"bet" + ENTER)
    terminal.until("What you typed before", gone=True)
    terminal.until("│ alpha beta")


def test_ctrl_g_and_edit_open_the_editor(opened: Opened, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "second line" >> "$1"\n')
    editor.chmod(0o755)
    terminal = opened({"text": "Hm."}, environ={"EDITOR": str(editor)})
    terminal.send(b"first line" + CTRL["j"])
    terminal.send(CTRL["g"])
    terminal.until("first line", "second line")
    terminal.send(CTRL["c"])
    terminal.until("second line", gone=True)
    terminal.send(b"/edit" + ENTER)
    terminal.until("│ second line")


def test_an_own_command_runs_and_the_model_sees_it(opened: Opened, tmp_path: Path) -> None:
    terminal = opened({"text": "I see."})
    terminal.send(b"!echo out; echo err >&2; pwd > here; exit $((1+2))" + ENTER)
    terminal.until("  out\n", "  err\n", "exit 3")
    assert (tmp_path / "repo" / "here").read_text().strip() == str(tmp_path / "repo")
    terminal.send(b"what was that?" + ENTER)
    terminal.until("I see.")
    terminal.send(b"/history" + ENTER)
    terminal.until("I ran this command myself")


def test_a_paste_in_brackets_is_not_sent_and_comes_whole(opened: Opened) -> None:
    terminal = opened({"text": "Hm."})
    terminal.send(b"\x1b[200~one\r\ntwo\r\x1b[201~")
    terminal.until("two")
    terminal.send(b"\x1b[200~" + b"".join(b"line %d\r" % number for number in range(40)) + b"\x1b[201~")
    assert "›" not in terminal.until("│ ", "[pasted 1: 41 lines")


def test_a_resize_draws_everything_anew(opened: Opened) -> None:
    terminal = opened({"text": "word " * 60 + "end."})
    terminal.send(b"go" + ENTER)
    terminal.until("end.")
    for columns, rows in ((20, 12), (160, 50), (80, 24)):
        terminal.resize(columns, rows)
        shown = terminal.until("end.")
        assert max(map(len, shown.splitlines())) <= columns
    terminal.send(b"still here")
    terminal.until("│ still here")


def test_bytes_that_are_no_utf8_are_no_end(opened: Opened) -> None:
    terminal = opened({"text": "Hm."})
    terminal.send(b"caf\xe9 \xff\xfe ok")
    terminal.until("ok")
    terminal.send("né".encode())
    terminal.until("né")
    terminal.send(ENTER)
    terminal.until("Hm.")


def test_two_screens_on_one_session_say_so_and_nothing_is_lost(opened: Opened) -> None:
    first = opened({"text": "One."}, {"text": "Two."})
    first.send(b"hello" + ENTER)
    first.until("One.")
    second = opened(options=())
    second.send(b"/resume" + ENTER)
    second.until("Go on with which session?")
    second.send(ENTER)
    second.until("is being driven by")
    second.send(b"/version" + ENTER)
    second.until("agentforge 0.")
    first.send(b"more" + ENTER)
    first.until("Two.")


def test_a_paste_of_five_megabytes_is_refused_whole_and_stays(opened: Opened) -> None:
    terminal = opened({"text": "Hm."})
    terminal.paste(b"\x1b[200~" + b"a line of a log that somebody pastes\n" * 140_000 + b"\x1b[201~")
    terminal.until("[pasted 1: 140,001 lines")
    terminal.send(ENTER)
    terminal.until("this conversation has room", "[pasted 1: 140,001 lines")
    terminal.send(CTRL["c"] + b"hello" + ENTER)
    terminal.until("Hm.")


def test_a_session_that_was_cut_in_the_middle_is_opened_with_what_is_whole(opened: Opened, tmp_path: Path) -> None:
    terminal = opened({"text": "One."}, {"text": "Two."})
    terminal.send(b"first words" + ENTER)
    terminal.until("One.")
    terminal.send(CTRL["d"])
    terminal.until("left with 0")
    (log,) = (tmp_path / "home").rglob("runs/*/events.jsonl")
    data = log.read_bytes()
    log.write_bytes(data[:-20])  # the machine went down in the middle of a write
    session = log.parent.name
    refused = opened(options=("--resume", session), awaited="left with")
    shown = "".join(refused.text().split("\n"))
    assert "its end was cut off" in shown and f"agentforge sessions fork {session}" in shown
    home = str(tmp_path / "home")
    forked = [sys.executable, "-m", "agentforge", "sessions", "fork", session]
    environ = {**os.environ, "HOME": home, "AGENTFORGE_HOME": home}
    subprocess.run(forked, check=True, cwd=tmp_path / "repo", env=environ, capture_output=True)
    again = opened({"text": "Two."}, options=("--continue",), awaited="first words")
    again.until("One.")
    again.send(b"go on" + ENTER)
    again.until("Two.")


def test_in_twenty_columns_an_approval_begins_with_what_changes(opened: Opened, tmp_path: Path) -> None:
    lines = [f"value_{number} = sum(range({number})) + len('a longer line')" for number in range(9)]
    (tmp_path / "repo" / "long.py").write_text("\n".join(lines))
    edit = {"name": "edit", "args": {"path": "long.py", "old_string": lines[4], "new_string": "ZEBRA = 1"}}
    terminal = opened({"tool_calls": [edit]}, {"text": "It is done now."}, size=(20, 24))
    terminal.send(b"go" + ENTER)
    terminal.until("ZEBRA", "y allow once")


def test_twenty_columns_hold_an_approval_and_an_answer(opened: Opened, tmp_path: Path) -> None:
    edit = {"name": "edit", "args": {"path": "textkit.py", "old_string": "text.upper()", "new_string": "text.lower()"}}
    terminal = opened({"tool_calls": [edit]}, {"text": "It is done now."}, size=(20, 24))
    terminal.send(b"go" + ENTER)
    shown = terminal.until("lower", "y allow once")
    assert max(map(len, shown.splitlines())) <= 20
    terminal.send(b"y")
    terminal.until("It is done now.")
    assert "lower" in (tmp_path / "repo" / "textkit.py").read_text()


@pytest.mark.parametrize(("theme", "ground"), [("dark", "48;2;22;22;30"), ("light", "48;2;251;251;253")])
def test_light_and_dark_reach_the_terminal(opened: Opened, theme: str, ground: str) -> None:
    edit = {"name": "edit", "args": {"path": "textkit.py", "old_string": "text.upper()", "new_string": "text.lower()"}}
    terminal = opened({"tool_calls": [edit]}, {"text": "Done."}, environ={"COLORTERM": "truecolor"})
    terminal.send(f"/theme {theme}\r".encode() + b"go" + ENTER)
    terminal.until("y allow once")
    terminal.send(b"y")
    added = {"dark": "48;2;18;52;31", "light": "48;2;215;245;221"}[theme]  # the ground of what was added
    terminal.until("Done.", ground, added, styles=True)


@pytest.mark.parametrize(
    ("ground", "environ", "drawn"),
    [
        ("#fdf6e3", {}, "48;2;251;251;253"),
        ("#101010", {"COLORFGBG": "0;15"}, "48;2;22;22;30"),
        ("", {"COLORFGBG": "0;15"}, "48;2;251;251;253"),
        ("", {}, "48;2;22;22;30"),
    ],
)
def test_the_screen_is_as_light_as_the_terminal_says(
    opened: Opened, ground: str, environ: dict[str, str], drawn: str
) -> None:
    terminal = opened(environ={"COLORTERM": "truecolor", **environ}, ground=ground)
    terminal.until(drawn, styles=True)
    terminal.send(ESC)
    terminal.until("Press Esc again")
    terminal.send(b"typed")
    assert typed(terminal.until("│ typed")) == ["typed"], "no answer of the terminal stands in the input"


def test_an_image_is_pasted_as_the_path_that_a_terminal_drops(opened: Opened, tmp_path: Path) -> None:
    picture = tmp_path / "shot one.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
    terminal = opened({"text": "Seen."})
    terminal.send(b"\x1b[200~" + str(picture).replace(" ", "\\ ").encode() + b"\x1b[201~")
    terminal.until("[image 1: shot one.png]")
    terminal.send(b"look" + ENTER)
    terminal.until("Seen.")


def test_vim_keys_take_their_bytes(opened: Opened) -> None:
    terminal = opened({"text": "Hm."})
    terminal.send(b"/vim" + ENTER)
    terminal.until("insert")
    terminal.send(b"hello world" + ESC)
    terminal.until("normal")
    terminal.send(b"0cwgoodbye")
    terminal.until("│ goodbye world")
    terminal.send(ENTER)
    terminal.until("Hm.")
