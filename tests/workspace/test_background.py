"""Proves workspace/background.py and loopback.py: commands go on beside others, are read, and end with their holder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from agentforge.cancellation import Cancellation, under
from agentforge.errors import UsageError
from agentforge.workspace.processes.background import MOST_AT_ONCE, BackgroundCommands
from agentforge.workspace.processes.process import Completed, run
from agentforge.workspace.sandbox.box import Box, choose
from agentforge.workspace.sandbox.loopback import SharedLoopback


def _plain(command: str, cwd: str, timeout_s: float) -> Completed:
    del cwd
    return run(["bash", "-c", command], cwd=None, env={"PATH": os.environ["PATH"]}, timeout_s=timeout_s)


@pytest.fixture
def commands() -> Iterator[BackgroundCommands]:
    made = BackgroundCommands(_plain)
    yield made
    made.close()


def test_output_is_read_once_while_it_comes_and_after_the_end(commands: BackgroundCommands, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    name = commands.start(f"echo first; read -r word <{gate}; echo $word; exit 3", cwd=".")
    first = b""
    while b"first" not in first:
        first += commands.read(name, wait_s=0.02).output
    assert commands.running() == (name,)
    gate.write_text("second\n")
    last = commands.read(name, wait_s=20)
    assert (last.output, last.outcome) == (b"second\n", "exit 3")
    assert commands.read(name).output == b""
    assert commands.glances()[0].output == b"first\nsecond\n"
    assert (commands.ended(), commands.ended()) == ({name: "exit 3"}, {})


def test_what_is_stopped_ends_with_all_that_it_started(commands: BackgroundCommands) -> None:
    name = commands.start("sleep 77.375 & sleep 77.375", cwd=".")
    assert commands.stop(name).outcome == "stopped"
    until = time.monotonic() + 20
    while _runs(b"77.375") and time.monotonic() < until:  # what was killed is gone a moment later
        os.sched_yield()
    assert not _runs(b"77.375")


def _runs(word: bytes) -> bool:
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(place.read_bytes())
    return any(word in line for line in lines)


def test_a_flood_is_kept_in_part_and_what_is_missing_is_said(commands: BackgroundCommands) -> None:
    name = commands.start("head -c 1000000 /dev/zero | tr '\\0' x", cwd=".")
    read = commands.read(name, wait_s=20)
    assert (len(read.output), read.missed, read.outcome) == (200_000, 800_000, "exit 0")


def test_a_command_that_is_waited_for_is_left_running_or_ended_with_the_work(
    commands: BackgroundCommands, tmp_path: Path
) -> None:
    gate, heard = tmp_path / "gate", bytearray()
    os.mkfifo(gate)
    line = f"echo first; read -r word <{gate}; echo $word; exit 3"

    def hears(piece: bytes) -> None:
        heard.extend(piece)
        assert commands.release()

    assert not commands.release()
    moved = commands.follow(line, partial(_plain, line, ".", 0.5), hears=hears)
    assert (moved.left_running, moved.output, commands.running()) == ("1", b"first\n", ("1",))
    while commands.glances()[0].seconds < 1:  # its time limit is over
        os.sched_yield()
    gate.write_text("second\n")
    last = commands.read("1", wait_s=20)
    assert (last.output, last.outcome, bytes(heard)) == (b"second\n", "exit 3", b"first\n")
    plain = commands.follow("exit 4", partial(_plain, "exit 4", ".", 20.0))
    assert (plain.exit_code, plain.left_running, commands.has_news()) == (4, "", True)
    sign = Cancellation()
    with pytest.raises(KeyboardInterrupt), under(sign):
        line = "echo; sleep 77.875"
        commands.follow(line, partial(_plain, line, ".", 60.0), hears=lambda _piece: sign.cancel())
    assert not _runs(b"77.875") and commands.running() == ()


def test_a_time_limit_ends_it_and_too_many_are_refused(commands: BackgroundCommands) -> None:
    assert commands.read(commands.start("sleep 60", cwd=".", timeout_s=0.01), wait_s=20).outcome.startswith(
        "stopped after"
    )
    for _ in range(MOST_AT_ONCE):
        commands.start("sleep 60", cwd=".")
    with pytest.raises(UsageError, match="run already"):
        commands.start("sleep 60", cwd=".")
    with pytest.raises(UsageError, match="no background command '99'"):
        commands.read("99")


def test_a_served_port_is_reached_by_the_commands_beside_it_and_by_nobody_else(tmp_path: Path) -> None:
    sandbox = choose("auto")
    if sandbox.kind != "bubblewrap":
        pytest.skip("bubblewrap does not work here")
    loopback = SharedLoopback()

    def boxed(*, lasting: bool = False, shared: bool = True) -> Box:
        return Box(workspace=tmp_path, mount_at=tmp_path, lasting=lasting, loopback=loopback if shared else None)

    def launch(command: str, cwd: str, timeout_s: float) -> Completed:
        del cwd
        return sandbox.run(["bash", "-c", command], box=boxed(lasting=True), timeout_s=timeout_s)

    serve = (
        "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 8123)); print(1, flush=True); s.accept()'"
    )
    ask = ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8123 && id -u"]
    commands = BackgroundCommands(launch)
    try:
        name = commands.start(serve, cwd=".")
        seen = b""
        while not seen and not commands.glances()[0].outcome:
            seen = commands.read(name, wait_s=0.02).output
        assert sandbox.run(ask, box=boxed(shared=False), timeout_s=20).exit_code != 0
        done = sandbox.run(ask, box=boxed(), timeout_s=20)
        assert (done.exit_code, done.text) == (0, f"{os.getuid()}\n")
        outside = sandbox.run(["bash", "-c", "exec 3<>/dev/tcp/192.0.2.1/80"], box=boxed(), timeout_s=20)
        assert "unreachable" in outside.text
    finally:
        commands.close()
        loopback.close()


def test_protected_places_that_come_while_it_runs_are_left_to_their_owner(tmp_path: Path) -> None:
    sandbox = choose("auto")
    if sandbox.kind != "bubblewrap":
        pytest.skip("bubblewrap does not work here")
    box = Box(workspace=tmp_path, mount_at=tmp_path, lasting=True)
    sandbox.run(["mkdir", "-p", ".git/hooks"], box=box, timeout_s=20)
    assert (tmp_path / ".git" / "hooks").is_dir()
