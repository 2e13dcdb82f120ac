"""The records of a step are found by halving, and only they are read."""

from __future__ import annotations

import pytest

from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.store.log.reader import LOG, read
from agentforge.store.log.run_log import RunLog
from agentforge.store.log.steps import last_step, records_of_step

_STEPS = 40


@pytest.fixture
def run(task_folder, run_parts, clock):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        for step in range(1, _STEPS + 1):
            if step % 10 == 1:
                log.append(kinds.StageStarted(stage="intake", attempt=step))
            for event in run_parts.step(step, "intake"):
                log.append(event)
            if step % 7 == 0:
                log.append(kinds.RunResumed(pid=1))
    return task_folder


def test_every_step_is_found_with_what_followed_from_it(run):
    whole = list(read(run))
    for step in range(1, _STEPS + 1):
        found = records_of_step(run, step)
        own = [record for record in whole if getattr(record.event, "step", None) == step]
        assert found[: len(own)] == own
        assert [type(record.event) for record in found[len(own) :]] == ([kinds.RunResumed] if step % 7 == 0 else [])
    assert last_step(run) == _STEPS


def test_there_is_nothing_before_the_first_and_behind_the_last_step(run):
    assert records_of_step(run, 0) == records_of_step(run, _STEPS + 1) == []


def test_a_torn_tail_is_not_read(run):
    with (run / LOG).open("ab") as file:
        file.write(b'{"at":"2025')
    assert last_step(run) == _STEPS
    assert records_of_step(run, _STEPS)


def test_a_record_of_the_step_that_was_altered_is_found(run):
    path = run / LOG
    text = path.read_bytes()
    place = text.index(b"Now step 33.")
    path.write_bytes(text[:place] + b"not" + text[place + 3 :])
    for step in (33, 20):
        with pytest.raises(IntegrityError, match="chain"):
            records_of_step(run, step)
    path.unlink()
    with pytest.raises(IntegrityError, match="missing"):
        records_of_step(run, 33)
