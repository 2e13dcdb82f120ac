"""A long log opens from a snapshot; what it opens to is what the whole log folds to, whatever became of the snapshot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentforge.errors import IntegrityError
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import value_digest
from agentforge.store.log import run_log as log_module
from agentforge.store.log.reader import LOG, LogScan, begin, fold, read
from agentforge.store.log.run_log import RunLog
from agentforge.store.log.snapshot import SNAPSHOT, read_snapshot
from agentforge.store.views.projector import rebuild

_STEPS = 12


@pytest.fixture
def long_run(task_folder, run_parts, clock, monkeypatch) -> Path:
    """A run of twelve steps whose state is sealed every twenty records or so."""
    monkeypatch.setattr(log_module, "EVERY", 20)
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        for step in range(1, _STEPS + 1):
            for event in run_parts.step(step, "intake"):
                log.append(event)
    return task_folder


def _whole(folder: Path) -> RunState:
    state = RunState()
    for record in read(folder):
        state = evolve(state, record.event, at=record.at)
    return state


def test_a_log_is_folded_from_behind_its_last_seal(long_run):
    snapshot = read_snapshot(long_run)
    assert snapshot is not None
    scan = LogScan(long_run)
    assert begin(scan, long_run)[1] == snapshot
    assert len(list(scan)) < 22
    folded = fold(long_run)
    assert (folded.state, folded.length) == (_whole(long_run), len(list(read(long_run))))


def test_the_writer_goes_on_behind_a_snapshot_as_if_it_had_read_everything(long_run, run_parts, clock):
    with RunLog.open(long_run, clock=clock) as log:
        for step in range(_STEPS + 1, _STEPS + 9):
            for event in run_parts.step(step, "intake"):
                log.append(event)
        assert log.state == _whole(long_run)
    assert fold(long_run).state == _whole(long_run)
    files = {path.relative_to(long_run): path.read_bytes() for path in long_run.rglob("*") if path.is_file()}
    rebuild(long_run)
    again = {path.relative_to(long_run): path.read_bytes() for path in long_run.rglob("*") if path.is_file()}
    assert {name for name in files if again.get(name) != files[name]} <= {Path("lease")}


def test_a_snapshot_of_another_state_is_not_believed(long_run):
    path = long_run / SNAPSHOT
    value = json.loads(path.read_bytes())
    value["state"]["outcome"] = "delivered"
    path.write_text(json.dumps(value))
    assert fold(long_run).state == _whole(long_run)
    value["digest"] = value_digest(value["state"])  # even where its own digest was made to fit
    path.write_text(json.dumps(value))
    assert fold(long_run).state == _whole(long_run)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"shape":1}'])
def test_a_snapshot_that_cannot_be_read_is_no_harm(long_run, content):
    (long_run / SNAPSHOT).write_bytes(content)
    assert fold(long_run).state == _whole(long_run)
    (long_run / SNAPSHOT).unlink()
    assert fold(long_run).state == _whole(long_run)


def test_a_record_before_the_snapshot_that_was_altered_is_found(long_run):
    path = long_run / LOG
    text = path.read_bytes()
    place = text.index(b"Now step 2.")
    path.write_bytes(text[:place] + b"not" + text[place + 3 :])
    with pytest.raises(IntegrityError, match="breaks the chain"):
        fold(long_run)
