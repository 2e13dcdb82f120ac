"""An altered log is seen by listings, whatever was done to it, and one that stands as it was left is not read."""

from __future__ import annotations

import json
import os

import pytest

from agentforge.errors import IntegrityError
from agentforge.store.log.intact import look_at, refuse_cut, remembered
from agentforge.store.log.reader import LOG
from agentforge.store.log.run_log import RunLog
from agentforge.store.tasks.folders import task_row


@pytest.fixture
def run(task_folder, run_parts, clock):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        for step in range(1, 9):
            for event in run_parts.step(step, "intake"):
                log.append(event)
    return task_folder


def _lines(run):
    return (run / LOG).read_bytes().splitlines(keepends=True)


ALTERATIONS = {
    "a word": lambda lines: [*lines[:9], lines[9].replace(b'"at":"2', b'"at":"3'), *lines[10:]],
    "a record left out": lambda lines: [*lines[:9], *lines[10:]],
    "a record twice": lambda lines: [*lines[:9], lines[9], *lines[9:]],
    "two records swapped": lambda lines: [*lines[:9], lines[10], lines[9], *lines[11:]],
    "no JSON": lambda lines: [*lines[:9], b"nothing\n", *lines[10:]],
    "another first record": lambda lines: [lines[0].replace(b"run_id", b"run_ix"), *lines[1:]],
    "the end cut off": lambda lines: lines[:-3],
    "nothing left": lambda _lines: [],
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_an_altered_log_is_damaged_in_a_listing(run, name):
    assert task_row(run).outcome == "paused"
    (run / LOG).write_bytes(b"".join(ALTERATIONS[name](_lines(run))))
    row = task_row(run)
    assert row.outcome == "damaged"
    assert "verify" in row.error or "restore" in row.error or "start it again" in row.error
    with pytest.raises(IntegrityError):
        look_at(run)


def test_an_alteration_that_keeps_size_and_time_is_seen(run):
    before = (run / LOG).stat()
    text = (run / LOG).read_bytes()
    (run / LOG).write_bytes(text.replace(b"intake", b"intakf", 1))
    os.utime(run / LOG, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(IntegrityError, match="chain"):
        look_at(run)


def test_a_summary_that_was_altered_is_not_believed(run):
    mark = json.loads((run / "views.json").read_bytes())
    mark["summary"]["outcome"] = "delivered"
    (run / "views.json").write_text(json.dumps(mark))
    assert look_at(run) == "views changed"
    assert task_row(run).outcome == "paused"


def test_a_run_that_goes_on_or_was_copied_is_read_and_found_whole(run, tmp_path, clock):
    assert look_at(run) == "chain holds"
    with RunLog.open(run, clock=clock):
        assert look_at(run) == "chain holds"
    assert look_at(run) == "chain holds"
    copied = tmp_path / "copy" / run.name
    copied.mkdir(parents=True)
    for name in (LOG, "lease", "views.json"):
        (copied / name).write_bytes((run / name).read_bytes())
    assert look_at(copied) == "chain holds"


def test_a_listing_remembers_what_it_read_and_sees_every_later_change(run):
    (run / "lease").unlink()
    with remembered(run.parent) as known:
        assert look_at(run, known) == "chain holds"
    kept = run.parent.parent / "cache" / "looked.json"
    with remembered(run.parent) as known:
        assert list(known) == [run.name] and kept.is_file()
    before = (run / LOG).stat()
    (run / LOG).write_bytes((run / LOG).read_bytes().replace(b"intake", b"intakf", 1))
    os.utime(run / LOG, ns=(before.st_atime_ns, before.st_mtime_ns))
    with remembered(run.parent) as known, pytest.raises(IntegrityError, match="chain"):
        look_at(run, known)
    kept.write_text("[broken")
    with remembered(run.parent) as known:
        assert known == {}


def test_a_last_record_that_is_being_written_is_no_damage(run):
    with (run / LOG).open("ab") as file:
        file.write(b'{"at":"2025')
    assert look_at(run) == "chain holds"
    assert refuse_cut(run)
