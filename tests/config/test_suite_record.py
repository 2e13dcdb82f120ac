"""Proves config/suite_record.py: the doctor tells how a suite went when it was last played here as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.app.setup.diagnostics import _suite
from agentforge.config.suite_record import LastRun, last_run, remember

HELD = LastRun(ok=True, summary="attacks 9/9 held, false refusals 0/3", at="2026-11-22T10:00:00Z", version="0")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "AGENTFORGE_HOME": str(tmp_path / "af")}


def test_a_run_is_kept_and_told_with_its_day(environ: dict[str, str]) -> None:
    remember("attacks", HELD, environ)
    assert last_run("attacks", environ) == HELD
    found = _suite("attacks", environ)
    assert found.status == "ok"
    assert "9/9 held, false refusals 0/3 on 2026-11-22" in found.message
    assert "agentforge eval attacks" in found.message  # of another version


def test_a_run_that_let_something_through_is_a_warning(environ: dict[str, str]) -> None:
    remember("injections", LastRun(ok=False, summary="8/9 held", at=HELD.at, version="0"), environ)
    assert _suite("injections", environ).status == "warning"
    assert _suite("attacks", environ).message.startswith("never played here")


def test_a_damaged_record_counts_as_none(environ: dict[str, str]) -> None:
    remember("attacks", HELD, environ)
    (tmp,) = Path(environ["AGENTFORGE_HOME"]).rglob("attacks.json")
    tmp.write_text("[]")
    assert last_run("attacks", environ) is None
