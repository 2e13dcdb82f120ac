"""Workers whose clocks are hours apart: who drives what, and what a run's log says, does not depend on them."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agentforge.fleet.database import open_database
from agentforge.fleet.ledger import Ledger
from agentforge.store.log.reader import read
from tests.support import world as kit

_PATIENCE_S = 240.0
_SETTINGS = "[fleet]\nlease_s = 2.0\nperiod_s = 0.1\n"
_AN_HOUR_S = 3600
_STAMPS_BEFORE_THE_KILL = "12"
# What every process of a worker finds before the program: another hour, and a moment at which the worker and the run are killed.
_SKEWED = """import datetime, os, signal, sys, time
_skew, _left, _worker = float(os.environ["SKEW_S"]), [int(os.environ["STAMPS"])], []
if "agentforge.fleet.fork_server" in sys.orig_argv:
    os.register_at_fork(after_in_child=lambda parent=os.getppid(): _worker.append(parent))
_time, _kept = time.time, datetime.datetime
time.time = lambda: _time() + _skew

class _Skewed(_kept):
    @classmethod
    def now(cls, tz=None):
        _left[0] -= 1
        if not _left[0] and _worker:
            os.kill(_worker[0], signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
        return _kept.now(tz) + datetime.timedelta(seconds=_skew)

datetime.datetime = _Skewed
"""


@pytest.fixture
def world(fleet: ModuleType, tmp_path: Path) -> Any:
    """A repository whose model answers one question about it, and a home with settings for short leases."""
    made = fleet._world(tmp_path, fresh=False)
    asked = kit.submit(kit.intake("analyze", examples=[]))
    answered = kit.submit(kit.analysis(findings=["shout upper-cases: textkit.py:4"]))
    model = made.model({"intake": [kit.reply(asked)], "analyze": [kit.reply(answered)]}).removeprefix("scripted/")
    kit.own_settings(made.home, f'[model]\nprovider = "scripted"\nname = "{model}"\n{_SETTINGS}')
    (tmp_path / "skew").mkdir()
    (tmp_path / "skew" / "sitecustomize.py").write_text(_SKEWED)
    return made


def _worked(world: Any, url: str, *, skew_s: int, stamps: str = "-1") -> tuple[int, str]:
    """A worker with a clock of its own, until nothing is left or it is killed; its exit code and what it said."""
    env = {"PYTHONPATH": str(world.repo.parent / "skew"), "SKEW_S": str(skew_s), "STAMPS": stamps}
    done = subprocess.run(
        [sys.executable, "-m", "agentforge", "worker", "--until-empty"], cwd=world.repo, text=True, timeout=_PATIENCE_S,
        env={**world.env, **env, "AGENTFORGE_DATABASE_URL": url}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_a_worker_whose_clock_is_behind_goes_on_with_what_one_with_a_clock_ahead_has_left(
    fleet: ModuleType, world: Any
) -> None:
    try:
        with fleet.postgres() as server:
            _taken_over(world, server.url)
    except fleet.NoPostgres as exc:
        pytest.skip(str(exc))


def _taken_over(world: Any, url: str) -> None:
    queued = world.run("start", "How does textkit shout?", "--detach", env={"AGENTFORGE_DATABASE_URL": url})
    assert queued.code == 0, queued.err
    code, out = _worked(world, url, skew_s=_AN_HOUR_S, stamps=_STAMPS_BEFORE_THE_KILL)
    assert code == -signal.SIGKILL, out
    left = [record.at for record in read(world.folder)]
    assert _moment(left[-1]) > datetime.now(UTC) + timedelta(seconds=_AN_HOUR_S / 2)
    code, out = _worked(world, url, skew_s=-_AN_HOUR_S)
    assert (code, "taken over from" in out) == (0, True), out
    records = list(read(world.folder))
    stamps = [record.at for record in records]
    kinds = [type(record.event).__name__ for record in records]
    assert (stamps[: len(left)], stamps) == (left, sorted(stamps))
    assert kinds.count("RunFinished") == 1
    assert world.run("verify", world.task).code == 0
    ledger = Ledger(open_database(url))
    (job,) = ledger.jobs()
    assert (job.status, job.note, job.attempt) == ("done", "analyzed", 2)
    assert abs(job.beat - datetime.now(UTC).timestamp()) < _AN_HOUR_S / 2  # the database's clock, not a worker's
    ledger.close()


def _moment(stamp: str) -> datetime:
    return datetime.fromisoformat(stamp)
