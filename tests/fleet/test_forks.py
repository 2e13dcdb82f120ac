"""Processes that drive runs, forked by a server: how they end, what they say, and what becomes of them without it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from agentforge.fleet.forks import Forks
from tests.support import world as kit

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def forks(fleet: ModuleType, tmp_path: Path) -> Iterator[tuple[Forks, Any]]:
    world = fleet._world(tmp_path, fresh=False)
    found = Forks(world.env)
    yield found, world
    found.close()


def queued(world: Any) -> str:
    """A task of one question, not driven yet."""
    asked = kit.submit(kit.intake("analyze", examples=[]))
    answered = kit.submit(kit.analysis(findings=["shout upper-cases: textkit.py:4"]))
    model = world.model({"intake": [kit.reply(asked)], "analyze": [kit.reply(answered)]})
    done = world.run("start", "What does shout do?", "--model", model, "--detach", "--json")
    return str(done.json["task_id"])


def test_runs_end_as_in_processes_of_their_own(forks: tuple[Forks, Any]) -> None:
    """One story: two runs one after another, one that is not there, and one whose server is killed."""
    started, world = forks
    for _ in range(2):
        task = queued(world)
        assert _driven(started, world, task) == (0, "")
        assert world.run("status", task, "--json").json["outcome"] == "analyzed"
    server = started.server_pid
    code, said = _driven(started, world, "task-20260101-nothing-000000")
    assert code not in (0, -signal.SIGKILL)
    assert "error[" in said
    assert started.server_pid == server
    os.kill(server, signal.SIGKILL)
    assert _driven(started, world, queued(world)) == (0, "")
    assert started.server_pid != server


def test_a_run_ends_with_its_server_and_the_next_one_gets_another(forks: tuple[Forks, Any]) -> None:
    started, world = forks
    with tempfile.TemporaryFile() as errors:
        fork = started.start([str(world.repo), queued(world)], errors=errors)
        os.kill(fork.pid, signal.SIGSTOP)
        os.kill(started.server_pid, signal.SIGKILL)
        assert fork.wait() == -signal.SIGKILL
    fork.send_signal(signal.SIGTERM)  # to nobody
    assert _driven(started, world, queued(world)) == (0, "")


def _driven(forks: Forks, world: Any, task: str) -> tuple[int, str]:
    with tempfile.TemporaryFile() as errors:
        code = forks.start([str(world.repo), task], errors=errors).wait()
        errors.seek(0)
        return code, errors.read().decode()


def test_a_worker_starts_without_what_only_drives_a_run() -> None:
    """The process that forks imports it; a worker that is started again after a kill need not pay for it twice."""
    program = "import sys, agentforge.fleet.worker; print('agentforge.app.composition.assembly' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
