"""What can befall a worker and what it is given: a poisoned task, an end in good order, triggers of every kind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy

from agentforge.fleet.database import open_database
from agentforge.fleet.ledger import Ledger
from agentforge.store.log.lease import read_holder
from tests.support import world as kit

_PATIENCE_S = 120.0
_POISON = """import os, signal, sys

def opened(worker, event, arguments):
    if event == "open" and os.environ["POISONED"] in str(arguments[0]):
        os.kill(worker, signal.SIGKILL)

if "agentforge.fleet.fork_server" in sys.orig_argv:
    sys.addaudithook(lambda event, arguments, worker=os.getppid(): opened(worker, event, arguments))
"""
_SETTINGS = "[fleet]\nlease_s = 1.0\nperiod_s = 0.1\ncrashes = 2\n"


@pytest.fixture
def world(fleet: ModuleType, tmp_path: Path) -> Any:
    """A repository whose model answers one question about it, and a home with settings for short leases."""
    made = fleet._world(tmp_path, fresh=False)
    asked = kit.submit(kit.intake("analyze", examples=[]))
    answered = kit.submit(kit.analysis(findings=["shout upper-cases: textkit.py:4"]))
    model = made.model({"intake": [kit.reply(asked)], "analyze": [kit.reply(answered)]})
    kit.own_settings(
        made.home, f'[model]\nprovider = "scripted"\nname = "{model.removeprefix("scripted/")}"\n{_SETTINGS}'
    )
    return made


def ledger_of(world: Any) -> Ledger:
    return Ledger(open_database(f"sqlite:///{world.home / 'af' / 'data' / 'fleet.sqlite'}"))


def worker(world: Any, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "agentforge", "worker", *arguments], cwd=world.repo, env={**world.env, **(env or {})},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def end_of(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, _ = process.communicate(timeout=_PATIENCE_S)
    return process.returncode, out


def test_a_day_in_the_life_of_a_queue(world: Any, tmp_path: Path) -> None:
    """A watched folder, a time and a rhythm start tasks; one is poisoned, is set aside and asks; a worker ends in good order.

    One story: every worker that starts costs more than a second.
    """
    poisoned = _triggered(world, tmp_path / "inbox")
    (tmp_path / "poison").mkdir()
    (tmp_path / "poison" / "sitecustomize.py").write_text(_POISON)
    env = {"PYTHONPATH": str(tmp_path / "poison"), "POISONED": poisoned}
    for _ in range(2):
        code, out = end_of(worker(world, "--until-empty", env=env))
        assert code == -signal.SIGKILL, out
    code, out = end_of(worker(world, "--until-empty", env=env))
    assert (code, f"{poisoned}: is quarantined and asks" in out) == (0, True), out
    assert world.run("queue", "list", "--all", "--json").json["counts"] == {"quarantined": 1, "done": 2}, out
    (asked,) = world.run("escalations", "list", "--json").json
    assert "ended badly 2 times in a row" in asked["reason"]
    assert world.run("resolve", "E1", "--answer", "again").code == 0

    log = world.repo / ".agentforge" / "tasks" / poisoned / "events.jsonl"
    code, out = _stopped_in_the_middle(world, log)
    assert (code, f"{poisoned}: handed back" in out) == (0, True), out
    assert not read_holder(log.parent).alive
    with closing(ledger_of(world)) as ledger:
        job = ledger.find(poisoned)
    assert (job.status, job.crashes) == ("queued", 0)
    kinds = [json.loads(line)["type"] for line in log.read_text().splitlines()]
    assert kinds.count("ModelCalled") == kinds.count("ModelReplied")


def _triggered(world: Any, inbox: Path) -> str:
    """Have three tasks started; returns the one of the watched folder."""
    inbox.mkdir()
    (inbox / "asked.md").write_text("How does textkit shout?")
    queued = world.run("watch", str(inbox), "--once").out
    assert "was started before" in world.run("watch", str(inbox), "--once").out
    at = world.run("start", "What does mumble do?", "--at", "+1h", "--priority", "200", "--json")
    every = world.run("start", "What does initials do?", "--every", "daily", "--priority", "200", "--json")
    assert (at.code, every.code) == (0, 0), at.err + every.err
    with closing(ledger_of(world)) as ledger, ledger._database.change() as connection:
        connection.execute(sqlalchemy.text("UPDATE agentforge_schedules SET next_at = 1"))  # their time has come
    return str(queued.split()[1])


def _stopped_in_the_middle(world: Any, log: Path) -> tuple[int, str]:
    """Start a worker and tell it to stop when it asks its model."""
    stopped = worker(world)
    ends = time.monotonic() + _PATIENCE_S
    while '"ModelCalled"' not in log.read_text():
        assert time.monotonic() < ends
        time.sleep(0.02)
    stopped.send_signal(signal.SIGTERM)
    return end_of(stopped)
