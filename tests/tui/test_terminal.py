"""The screen in a real terminal: bytes in, screen out, where keys and terminals are what matters."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("textual")

from .terminal import Terminal

pytestmark = pytest.mark.needs("tmux")

ESC, ALT_ENTER, SHIFT_TAB, ENTER = b"\x1b", b"\x1b\r", b"\x1b[Z", b"\r"
CTRL = {letter: bytes([ord(letter) & 0x1F]) for letter in "acdegjloruwz"}
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

    def open_terminal(*replies: dict[str, Any], options: tuple[str, ...] = (), **given: Any) -> Terminal:
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
        terminals[-1].until("a new session" if "--continue" not in options else "context")
        return terminals[-1]

    yield open_terminal
    for terminal in terminals:
        terminal.__exit__()


def typed(shown: str) -> list[str]:
    """The lines of the input."""
    return [line.strip("│ ") for line in shown.splitlines() if line.startswith("│")]


def test_alt_enter_is_a_new_line_and_enter_sends(opened: Opened) -> None:
    terminal = opened({"text": "Understood."})
    terminal.send(b"first" + ALT_ENTER + b"second" + CTRL["j"] + b"third\\" + ENTER + b"fourth")
    assert typed(terminal.until("fourth")) == ["first", "second", "third", "fourth"]
    terminal.send(ENTER)
    terminal.until("Understood.")


def test_keys_take_effect_in_the_order_in_which_they_were_pressed(opened: Opened) -> None:
    terminal = opened()
    terminal.send(b"abx\x7fc" + b"\x1b[D" * 3 + b"0" + CTRL["e"] + b"d two" + CTRL["w"] + b"2" + CTRL["a"] + b"<")
    terminal.until("│ <0abcd 2")


def test_escape_stops_the_turn_and_the_session_goes_on(opened: Opened) -> None:
    terminal = opened(SLEEP, {"text": "Fine."}, options=("--approval", "auto"))
    terminal.send(b"go" + ENTER)
    terminal.until("begun")
    terminal.send(ESC)
    terminal.until("stopped; the session goes on")
    terminal.send(b"again" + ENTER)
    terminal.until("Fine.")


def test_ctrl_c_clears_and_twice_leaves(opened: Opened) -> None:
    terminal = opened()
    terminal.send(b"half a message")
    terminal.until("half a message")
    terminal.send(CTRL["c"])
    terminal.until("Press Ctrl+C again to leave")
    assert "half a message" not in terminal.text()
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
    shown = terminal.until("there is no checkpoint")
    assert "nothing to undo" in shown and "nothing to redo" in shown
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
    assert "│ alpha beta" in terminal.until("│ alpha beta")


def test_ctrl_g_and_edit_open_the_editor(opened: Opened, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "second line" >> "$1"\n')
    editor.chmod(0o755)
    terminal = opened({"text": "Hm."}, environ={"EDITOR": str(editor)})
    terminal.send(b"first line" + CTRL["j"])
    terminal.send(CTRL["g"])
    terminal.until("second line")
    assert "first line" in terminal.text()
    terminal.send(CTRL["c"])
    terminal.until("second line", gone=True)
    terminal.send(b"/edit" + ENTER)
    terminal.until("│ second line")


def test_an_own_command_runs_and_the_model_sees_it(opened: Opened, tmp_path: Path) -> None:
    terminal = opened({"text": "I see."})
    terminal.send(b"!echo out; echo err >&2; pwd > here; exit 3" + ENTER)
    shown = terminal.until("exit 3")
    assert "out" in shown and "err" in shown
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
    terminal.until("[pasted 1: 41 lines")
    assert "›" not in terminal.text()


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
