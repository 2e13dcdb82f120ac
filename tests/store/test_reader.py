from __future__ import annotations

from itertools import pairwise

import pytest

from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.store.log.reader import LOG, fold, load_state, read
from agentforge.store.log.run_log import RunLog


def test_a_reader_follows_a_run_that_another_process_writes(task_folder, run_parts, clock):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        for number, event in enumerate(run_parts.step(1, "intake"), 2):
            log.append(event)
            folded = fold(task_folder)
            assert (folded.length, folded.head, folded.state) == (number, log.head, log.state)


def test_a_line_that_is_just_being_written_is_left_out(finished_run):
    whole = fold(finished_run)
    with (finished_run / LOG).open("ab") as file:
        file.write(b'{"at":"2025-12-31T10')
    assert fold(finished_run) == type(whole)(state=whole.state, head=whole.head, length=whole.length, torn_bytes=20)
    assert len(list(read(finished_run))) == whole.length
    assert (finished_run / LOG).read_bytes().endswith(b"T10")  # a reader repairs nothing


def test_records_come_with_their_place_in_the_chain(finished_run):
    records = list(read(finished_run))
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert all(after.prev == before.hash and after.at >= before.at for before, after in pairwise(records))
    assert isinstance(records[-1].event, kinds.RunFinished)


def test_a_folder_without_a_log_is_an_integrity_error(tmp_path):
    with pytest.raises(IntegrityError, match="missing"):
        load_state(tmp_path)


def test_a_log_that_holds_nothing_is_told_and_is_no_run_of_no_records(finished_run):
    (finished_run / LOG).write_bytes(b"")
    for reading in (fold, load_state, lambda folder: list(read(folder))):
        with pytest.raises(IntegrityError, match="holds no complete record"):
            reading(finished_run)
