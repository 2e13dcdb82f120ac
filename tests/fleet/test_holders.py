"""A process that is frozen in the middle of a change of the queue keeps everybody out, and is ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.errors import StorageError
from agentforge.fleet.database import Database
from agentforge.fleet.ledger import Ledger
from agentforge.fleet.rescue import Frozen
from agentforge.fleet.worker import end_frozen_holders, holders_of

_CHANGING = """import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
database.execute("UPDATE agentforge_queue SET note = 'half'")
print("in the middle", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="who holds a lock is seen on Linux only")
def test_a_frozen_process_that_holds_the_queue_is_ended_after_a_while(database: Database) -> None:
    ledger = Ledger(database)
    job = ledger.add(Path("/repo"), "t")
    file, now, said = database.file, [0.0], list[str]()
    assert file is not None
    assert holders_of(file) == set()
    child = subprocess.Popen([sys.executable, "-c", _CHANGING, str(file)], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        while b") T" not in Path(f"/proc/{child.pid}/stat").read_bytes():
            pass
        assert holders_of(file) == {child.pid}
        with database.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout = 10")  # of the connection that is used next
        with pytest.raises(StorageError, match="locked"):
            ledger.beat("a", [])
        frozen = Frozen(patience_s=5.0, clock=lambda: now[0])
        end_frozen_holders(file, frozen, tell=said.append)
        assert (said, child.poll()) == ([], None)
        now[0] = 6.0
        end_frozen_holders(file, frozen, tell=said.append)
        assert child.wait(timeout=30) == -signal.SIGKILL
    finally:
        child.kill()
        child.communicate()
    assert said == [f"process {child.pid} held the database of the queue and stood still: it was ended"]
    assert ledger.get(job.id).note == ""
    ledger.beat("a", [])
