"""Processes that stand still are noticed; a run that cannot be opened is told about."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from agentforge.fleet.ledger import Job
from agentforge.fleet.rescue import Frozen, Unheard, ask_human

_PATIENCE_S = 30.0


def test_a_process_that_was_stopped_is_given_up_after_a_while() -> None:
    now = [0.0]
    frozen = Frozen(patience_s=5.0, clock=lambda: now[0])
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert frozen.among([child.pid]) == []
        child.send_signal(signal.SIGSTOP)
        ends = time.monotonic() + _PATIENCE_S
        while b") T" not in Path(f"/proc/{child.pid}/stat").read_bytes():
            assert time.monotonic() < ends
        assert frozen.among([child.pid]) == []
        now[0] = 6.0
        assert frozen.among([child.pid]) == [child.pid]
        child.send_signal(signal.SIGCONT)
        while b") T" in Path(f"/proc/{child.pid}/stat").read_bytes():
            assert time.monotonic() < ends
        assert frozen.among([child.pid]) == []
        now[0] = 12.0
        assert frozen.among([child.pid]) == []
    finally:
        child.kill()
        child.communicate()


def test_a_run_that_cannot_be_opened_is_told_about(tmp_path: Path) -> None:
    said: list[str] = []
    job = Job(id="j", repo=str(tmp_path), task_id="task-gone")
    ask_human(job, "signal 9", times=3, environ={"HOME": str(tmp_path)}, tell=said.append)
    assert said == [
        f"{tmp_path.name}/task-gone: is quarantined, and cannot ask: {tmp_path}/.agentforge/tasks/task-gone/events.jsonl is missing"
    ]


def test_who_is_silent_is_found_whatever_the_clocks_say() -> None:
    now = [0.0]
    unheard = Unheard(lease_s=5.0, clock=lambda: now[0])
    dead = Job(id="d", repo="/r", task_id="dead", status="running", attempt=1, beat=1e9)  # years ahead, or
    alive = Job(id="a", repo="/r", task_id="alive", status="running", attempt=1, beat=-1e9)  # long ago: it says nothing
    for second in range(6):
        now[0] = float(second)
        assert unheard.among([dead, replace(alive, beat=-1e9 - second)]) == []
    now[0] = 5.5
    assert unheard.among([dead, alive]) == [dead]
    unheard.begin_again()  # the database was away: nobody could say anything
    assert unheard.among([dead, alive]) == []
    now[0] = 11.0
    assert unheard.among([dead, replace(alive, attempt=2)]) == [dead]
