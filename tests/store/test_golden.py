"""Stored logs fold to stored views: an old run reads the same for ever. `python -m tests.golden.regenerate` writes the views anew."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agentforge.store.views.projector import rebuild
from tests.golden.regenerate import GOLDEN as SOURCES, written

GOLDEN = sorted(path.parent for path in SOURCES.glob("*/events.jsonl"))


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("run", GOLDEN, ids=lambda run: run.name)
def test_a_stored_log_folds_to_its_stored_views(run, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns("views"))
    given = files_of(copy)
    rebuild(copy)
    made = {name: data for name, data in files_of(copy).items() if name not in given and name != "lease"}
    assert made == files_of(run / "views")


def test_there_is_a_golden_run_with_every_kind_of_event_that_a_task_has():
    text = "".join((run / "events.jsonl").read_text(encoding="utf-8") for run in GOLDEN)
    from agentforge.events import kinds
    from agentforge.events.kinds import conversation as conversing

    names = {name for name, value in vars(kinds).items() if isinstance(value, type) and issubclass(value, kinds.Event)}
    names -= {name for name in names if hasattr(conversing, name)}  # of sessions: tests/session
    beside = {"Event", "LogRecovered", "RunForked", "ForkMade", "RunMarked", "StateSealed"}  # tests/e2e/test_trail.py
    beside |= {
        "TaskAwaited",
        "TaskArrived",
        "NotificationSent",
        "RunShared",
        "PartStarted",
        "AttemptsStarted",
        "AttemptFinished",
        "AttemptChosen",
        "Examined",
        "CallsKept",
        "CallsTaken",
    }  # of several tasks, machines, people, attempts: tests/e2e
    missing = {name for name in names - beside if f'"type":"{name}"' not in text}
    assert missing == set()


def test_a_log_with_a_source_is_what_the_source_says():
    sources = sorted(SOURCES.glob("*.yaml"))
    assert [source.stem for source in sources] == ["reopened-run"]
    for source in sources:
        assert written(source) == (SOURCES / source.stem / "events.jsonl").read_bytes()
