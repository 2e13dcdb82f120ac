from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from agentforge.errors import LockedError
from agentforge.proof.contents import lease_check
from agentforge.proof.files import FolderFiles
from agentforge.store.log.lease import Lease, read_holder

NOW = "2025-12-31T10:00:00.000000Z"


def test_a_second_writer_is_told_who_holds_the_lease(tmp_path):
    lease = Lease.take(tmp_path, since=NOW)
    with pytest.raises(LockedError, match="since 2025-12-31T10:00:00Z"):
        Lease.take(tmp_path, since=NOW)
    lease.release()
    Lease.take(tmp_path, since=NOW).release()


def test_every_writer_gets_a_higher_token(tmp_path):
    fences = []
    for above in (0, 0, 7, 0):
        lease = Lease.take(tmp_path, since=NOW, above=above)
        fences.append(lease.fence)
        lease.release()
    assert fences == [1, 2, 8, 9]


def test_a_token_rises_above_what_the_log_holds(tmp_path):
    lease = Lease.take(tmp_path, since=NOW)
    lease.raise_above(5)
    lease.check()
    assert lease.fence == 6 and read_holder(tmp_path).fence == 6
    lease.raise_above(3)
    assert lease.fence == 6
    lease.release()


def test_the_holder_is_alive_while_it_holds_and_not_after(tmp_path):
    lease = Lease.take(tmp_path, since=NOW)
    assert read_holder(tmp_path).alive
    lease.release()
    lease.release()
    assert not read_holder(tmp_path).alive


def test_the_lease_of_a_dead_process_is_free(tmp_path):
    script = "import sys, os; from pathlib import Path; from agentforge.store.log.lease import Lease; Lease.take(Path(sys.argv[1]), since='x'); os._exit(1)"
    subprocess.run([sys.executable, "-c", script, tmp_path], check=False)
    assert read_holder(tmp_path).fence == 1 and not read_holder(tmp_path).alive
    lease = Lease.take(tmp_path, since=NOW)
    assert lease.fence == 2
    lease.release()


@pytest.mark.parametrize("change", [{"boot_id": "another"}, {"process_start": "1"}, {"released": True}])
def test_a_holder_of_another_boot_or_with_a_reused_pid_is_not_alive(tmp_path, change):
    lease = Lease.take(tmp_path, since=NOW)
    content = json.loads((tmp_path / "lease").read_bytes())
    (tmp_path / "lease").write_text(json.dumps({**content, **change}))
    assert not read_holder(tmp_path).alive
    lease.release()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"fence": "x", "pid": 1}', b"\xff\xfe", b"null"])
def test_an_unreadable_lease_file_is_no_holder_and_no_obstacle(tmp_path, content):
    (tmp_path / "lease").write_bytes(content)
    assert read_holder(tmp_path).fence == 0
    lease = Lease.take(tmp_path, since=NOW)
    lease.check()
    lease.release()


@pytest.mark.parametrize("loss", ["removed", "replaced", "rewritten"])
def test_a_lease_that_was_lost_is_noticed(tmp_path, loss):
    lease = Lease.take(tmp_path, since=NOW)
    path = tmp_path / "lease"
    content = path.read_bytes()
    if loss == "rewritten":
        path.write_bytes(content.replace(b'"fence":1', b'"fence":2'))
    else:
        path.unlink()
    if loss == "replaced":
        path.write_bytes(content)
    with pytest.raises(LockedError, match="token 1 is old"):
        lease.check()
    lease.release()


def test_a_kill_between_writing_and_cutting_leaves_a_lease_that_somebody_wrote(tmp_path, monkeypatch):
    """Each content is as long as the one before it, so that no end of an older one stays behind it."""
    monkeypatch.setattr("os.ftruncate", lambda *_: None)  # as if the process died before it
    for leave in (Lease.abandon, lambda lease: lease.release(left="1:2:3:4 5:6:7:8"), Lease.abandon, Lease.release):
        lease = Lease.take(tmp_path, since=NOW)
        assert lease_check(FolderFiles(tmp_path), fence=1)[0].ok
        leave(lease)
        assert lease_check(FolderFiles(tmp_path), fence=1)[0].ok


def test_a_disk_that_takes_the_lease_in_two_parts_leaves_it_whole(tmp_path, monkeypatch):
    whole = os.pwrite
    parts = []

    def half(descriptor, content, at):
        piece = content if parts else content[: len(content) // 2]
        parts.append(piece)
        return whole(descriptor, piece, at)

    monkeypatch.setattr(os, "pwrite", half)
    lease = Lease.take(tmp_path, since=NOW)
    lease.check()
    assert len(parts) > 1 and read_holder(tmp_path).alive
    lease.release()
