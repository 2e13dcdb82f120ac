"""What asks on a terminal: `agentforge resolve` without an id, and a conversation in a project that nobody agreed to."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.world import good_script, intake, reply, submit

if TYPE_CHECKING:
    from tests.support.world import World

_QUESTION = "What joins the words?"
_CONTROLLED = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


def _on_a_terminal(world: World, *arguments: str, typed: str) -> tuple[int, str]:
    """Run the program on a terminal of its own; what is typed waits in it."""
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "agentforge", *arguments]
    env = {**world.env, "TERM": "dumb"}
    child = subprocess.Popen(command, cwd=world.repo, env=env, stdin=its, stdout=its, stderr=its)
    os.close(its)
    os.write(ours, typed.encode())
    out = b""
    while True:
        try:
            data = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        out += data
    os.close(ours)
    return child.wait(60), out.decode("utf-8", "replace")


def test_a_terminal_that_goes_away_ends_the_screen_without_a_crash(world: World) -> None:
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "agentforge", "--model", world.model({"chat": [{"text": "Done."}]})]
    env = {**world.env, "TERM": "xterm-256color"}
    child = subprocess.Popen(
        [sys.executable, "-c", _CONTROLLED, *command], cwd=world.repo, env=env, stdin=its, stdout=its, stderr=its,
        start_new_session=True,
    )  # fmt: skip
    os.close(its)
    seen = b""
    while b"for commands" not in seen:
        seen += os.read(ours, 65_536)
    os.close(ours)
    assert child.wait(60) == 129
    assert not list(world.home.rglob("crashes/*"))


def test_bare_resolve_asks_records_the_answer_and_goes_on(world: World) -> None:
    open_question = {"area": "separator", "question": _QUESTION, "impact": "blocking", "default": "a hyphen"}
    asked = {"question": _QUESTION, "impact": "blocking", "source": "human_escalation", "answer": "unknown"}
    script = good_script(
        intake=[reply(submit(intake(identified_ambiguities=[open_question])))],
        clarify=[reply(submit({"questions": [asked]}))],
    )
    assert world.start(script).code == 3
    code, out = _on_a_terminal(world, "resolve", typed="a hyphen, always\ny\n")
    assert _QUESTION in out
    assert code == 0, out
    (answer,) = world.view("artifacts/phases/clarify/clarification.yaml")["questions"]
    assert answer["answer"] == "a hyphen, always"


def test_a_conversation_asks_once_about_what_a_project_brings(world: World) -> None:
    script = world.model({"chat": [{"text": "Done."}]})
    (world.repo / "AGENTS.md").write_text("Say please.\n")
    (world.repo / ".env").write_text("A=1\n")
    talk = ("--plain", "--model", script)
    code, out = _on_a_terminal(world, *talk, typed="s\nwhat?\nn\n/exit\n")
    assert "--- AGENTS.md" in out and "Say please." in out and "A=..." in out and "A=1" not in out
    assert code == 0 and out.count("Use them?") == 3 and "+ AGENTS.md" in out and "+ .env" in out
    assert "left out: .env, AGENTS.md" in out
    code, out = _on_a_terminal(world, *talk, typed="/exit\n")
    assert code == 0 and "Use them?" not in out and "left out: .env, AGENTS.md" in out
    (world.repo / "AGENTS.md").write_text("Say it differently.\n")
    code, out = _on_a_terminal(world, *talk, typed="y\n/exit\n")
    assert code == 0 and "Use them?" in out and "left out" not in out
    code, out = _on_a_terminal(world, *talk, typed="/exit\n")
    assert code == 0 and "Use them?" not in out and "left out" not in out
