"""Proves app/overhearing.py and process.overheard: output is heard while it comes, in lines, without secrets, bounded."""

from __future__ import annotations

import os

from agentforge.app.sessions.commands import Overheard
from agentforge.workspace.processes.process import overheard, run


def test_lines_are_shown_whole_clean_and_without_secrets() -> None:
    shown: list[str] = []
    heard = Overheard(shown.append, secrets=("hunter2-hunter2",))
    for piece in (b"one\ntw", b"o \xc3", b"\xbc\n\x1b[31mhunter2-", b"hunter2\n", b"rest"):
        heard.hear(piece)
    text = "".join(shown)
    assert text.startswith("one\ntwo ü\n") and "hunter2" not in text and "\x1b" not in text and "rest" not in text


def test_a_flood_falls_silent() -> None:
    shown: list[str] = []
    heard = Overheard(shown.append, secrets=())
    for _ in range(1000):
        heard.hear(b"x" * 5000 + b"\n")
    assert sum(map(len, shown)) < 300_000


def test_a_command_is_heard_before_it_has_ended() -> None:
    reader, writer = os.pipe()
    heard: list[bytes] = []

    def listen(piece: bytes) -> None:
        heard.append(piece)
        if b"first" in piece:
            os.write(writer, b"go\n")

    with overheard(listen):
        done = run(
            ["bash", "-c", f"echo first; read -r word <&{reader}; echo $word"],
            cwd=None, env={"PATH": os.environ["PATH"]}, timeout_s=20, pass_fds=(reader,),
        )  # fmt: skip
    os.close(reader)
    os.close(writer)
    assert (done.text, b"".join(heard)) == ("first\ngo\n", b"first\ngo\n")
