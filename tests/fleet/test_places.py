"""Where tasks stand in the queue, for who only looks."""

from __future__ import annotations

from pathlib import Path

from agentforge.config.settings import load
from agentforge.fleet.database import Database
from agentforge.fleet.ledger import Ledger
from agentforge.fleet.places import Queued, look_at_line

REPO = Path("/repo")


def _folder(name: str) -> Path:
    return REPO / ".agentforge" / "tasks" / name


def test_everybody_who_waits_has_a_place_and_who_is_driven_has_none(
    database: Database, ledger: Ledger, tmp_path: Path
) -> None:
    jobs = {name: ledger.add(REPO, name, priority=number) for number, name in enumerate("abcd", start=1)}
    ledger.claim("w", driving=(), at_most=1)
    ledger.set_aside(jobs["c"], "paused")
    environ = {"HOME": str(tmp_path), "AGENTFORGE_DATABASE_URL": database.url}
    line = look_at_line(load(tmp_path, environ), environ)
    assert {path.name: queued.words for path, queued in line.standing.items()} == {
        "b": "queued, 1 of 2", "c": "paused in the queue", "d": "queued, 2 of 2",
    }  # fmt: skip
    assert (line.of(_folder("a")), line.trouble) == (None, "")

    ledger.hold(paused=True)
    held = look_at_line(load(tmp_path, environ), environ).of(_folder("b"))
    assert held == Queued(status="queued", place=1, of=2, held=True)
    assert (held.words, held.next_step("b")) == ("queued, 1 of 2, the queue is paused", "agentforge queue resume")


def test_a_queue_that_is_not_there_is_not_made_and_one_that_is_broken_is_named(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "AGENTFORGE_DATABASE_URL": f"sqlite:///{tmp_path}/queue.sqlite"}
    line = look_at_line(load(tmp_path, environ), environ)
    assert (dict(line.standing), line.trouble, (tmp_path / "queue.sqlite").exists()) == ({}, "", False)
    (tmp_path / "queue.sqlite").write_text("no database at all, but long enough to be looked at")
    assert "queue.sqlite cannot be read: " in look_at_line(load(tmp_path, environ), environ).trouble
    environ["AGENTFORGE_DATABASE_URL"] = "mysql://somewhere/queue"
    assert "cannot live in mysql" in look_at_line(load(tmp_path, environ), environ).trouble
