from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.canonical import digest_bytes
from agentforge.errors import ConflictError, IntegrityError, LockedError, StorageError
from agentforge.events import kinds
from agentforge.store.log.reader import LOG, fold, load_state, read
from agentforge.store.log.records import GENESIS
from agentforge.store.log.run_log import RunLog
from agentforge.store.views.projector import rebuild


def views_of(folder: Path) -> dict[str, bytes]:
    """All files of a run but the log, the lease, blobs and quarantine."""
    files = (path for path in folder.rglob("*") if path.is_file())
    kept = (path for path in files if path.relative_to(folder).parts[0] not in ("lease", LOG, "blobs", "quarantine"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


def test_the_log_folds_to_the_state_that_the_writer_had(task_folder, run_parts, clock):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        for event in run_parts.whole(log.blobs.put)[1:]:
            log.append(event)
        state, head, length = log.state, log.head, log.length
    folded = fold(task_folder)
    assert (folded.state, folded.head, folded.length, folded.torn_bytes) == (state, head, length, 0)
    with RunLog.open(task_folder, clock=clock) as again:
        assert (again.state, again.head, again.length) == (state, head, length)


def test_a_record_is_canonical_json_chained_from_sixty_four_zeros(task_folder, run_parts, clock):
    import hashlib

    from agentforge.canonical import canonical_bytes

    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        log.append(kinds.StageStarted(stage="intake", attempt=1))
    prev = GENESIS
    for number, line in enumerate((task_folder / LOG).read_bytes().splitlines(), 1):
        record = json.loads(line)
        assert canonical_bytes(record) == line
        digest = record.pop("hash")
        assert record["prev"] == prev and record["seq"] == number and record["fence"] == 1
        assert hashlib.sha256(prev.encode() + canonical_bytes(record)).hexdigest() == digest
        prev = digest


def test_values_that_only_look_like_json_are_recorded_and_folded_alike(task_folder, run_parts, clock):
    event = kinds.FactsGathered(
        name="baseline", attempt=1, facts={"ids": ("a", ("b",)), "odd": "lone \udc80 \x00 \u2028"}
    )
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        log.append(event)
        assert log.state.work.facts["baseline"]["ids"] == ["a", ["b"]]
        assert load_state(task_folder) == log.state


def test_subscribers_hear_of_every_event_after_it_is_durable(task_folder, run_parts, clock):
    heard = []
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        log.subscribe(
            lambda event, state: heard.append((type(event).__name__, state.progress.stage, fold(task_folder).length))
        )
        log.append(kinds.StageStarted(stage="intake", attempt=1))
        log.append(kinds.RunInterrupted(reason="x"))
    assert heard == [("StageStarted", "intake", 2), ("RunInterrupted", "intake", 3)]


def test_a_clock_that_is_set_back_does_not_turn_the_log_back(task_folder, run_parts):
    looks = iter(
        [
            "2026-01-02T00:00:00+00:00",
            "2026-01-02T00:00:00+00:00",
            "2026-01-01T00:00:00.5+00:00",
            "2026-01-02T02:00:00.25+01:00",
        ]
    )
    with RunLog.create(task_folder, run_parts.first(), clock=lambda: next(looks)) as log:
        log.append(kinds.StageStarted(stage="intake", attempt=1))
        log.append(kinds.StageStarted(stage="intake", attempt=2))
    stamps = [record.at for record in read(task_folder)]
    assert stamps == ["2026-01-02T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z", "2026-01-02T01:00:00.250000Z"]


def test_a_second_log_in_the_same_folder_is_refused(finished_run, run_parts, clock):
    with pytest.raises(ConflictError, match="exists already"):
        RunLog.create(finished_run, run_parts.first(), clock=clock)


def test_a_missing_log_is_a_broken_trail(tmp_path, clock):
    with pytest.raises(IntegrityError, match="missing"):
        RunLog.open(tmp_path, clock=clock)
    assert not (tmp_path / "lease").exists()


def test_a_log_without_any_record_says_that_the_run_never_began(tmp_path, clock):
    (tmp_path / LOG).write_bytes(b'{"at":"2025')
    with pytest.raises(IntegrityError, match="never began"):
        RunLog.open(tmp_path, clock=clock)


def test_a_log_cut_at_any_byte_of_its_last_two_records_is_opened_and_goes_on(
    quick_folder, task_folder, run_parts, clock
):
    """A kill -9 or a power cut leaves the file at any length: what was acknowledged before stays, the rest is kept aside."""
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        for event in [
            kinds.StageStarted(stage="intake", attempt=1),
            kinds.RunInterrupted(reason="x"),
            kinds.RunResumed(pid=1),
        ]:
            log.append(event)
    data = (task_folder / LOG).read_bytes()
    lines = data.splitlines(keepends=True)
    ends = [sum(map(len, lines[:count])) for count in range(len(lines) + 1)]
    for cut in range(ends[-3], len(data) + 1):
        folder = quick_folder / "cut"
        folder.mkdir()
        (folder / LOG).write_bytes(data[:cut])
        whole = max(count for count, end in enumerate(ends) if end <= cut)
        torn = data[ends[whole] : cut]
        with RunLog.open(folder, clock=clock) as log:
            assert log.length == whole + (1 if torn else 0)
            log.append(kinds.RunResumed(pid=1))
        records = [type(record.event).__name__ for record in read(folder)]
        assert records[whole:] == (["LogRecovered"] if torn else []) + ["RunResumed"]
        assert b"".join(path.read_bytes() for path in folder.glob("quarantine/*")) == torn
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "tail", [b"\x00" * 700, b'{"at":"2025' + b"\x00" * 90, b"\x00" * 80 + b'"prev":"ab","seq":9,"type":"X"}\n']
)
def test_blocks_that_the_file_system_never_filled_are_a_torn_tail(finished_run, clock, tail):
    length = fold(finished_run).length
    with (finished_run / LOG).open("ab") as file:
        file.write(tail)
    with RunLog.open(finished_run, clock=clock) as log:
        assert log.length == length + 1
    assert [path.read_bytes() for path in finished_run.glob("quarantine/*")] == [tail]
    assert fold(finished_run).torn_bytes == 0


def alterations(lines: list[bytes]) -> dict[str, list[bytes]]:
    """Logs that were tampered with."""
    changed = lines[3].replace(b'"step":1', b'"step":2')
    assert changed != lines[3]
    return {
        "a value": [*lines[:3], changed, *lines[4:]],
        "a missing record": lines[:4] + lines[5:],
        "two records swapped": [*lines[:3], lines[4], lines[3], *lines[5:]],
        "a record twice": [*lines[:4], lines[3], *lines[4:]],
        "no first record": lines[1:],
        "an empty line": [*lines[:4], b"\n", *lines[4:]],
        "no JSON": [*lines[:4], b"{\n", *lines[4:]],
        "NUL in the middle": [*lines[:4], b"\x00" * 20 + b"\n", *lines[4:]],
        "the last record": [*lines[:-1], lines[-1].replace(b"delivered", b"failed")],
        "another form": [*lines[:-1], lines[-1].replace(b'"at"', b'"when"')],
    }


@pytest.mark.parametrize("name", alterations([b'"step":1\n'] * 6))
def test_a_log_that_was_altered_is_a_hard_stop_for_writer_and_reader(finished_run, clock, name):
    log = finished_run / LOG
    log.write_bytes(b"".join(alterations(log.read_bytes().splitlines(keepends=True))[name]))
    before = log.read_bytes()
    with pytest.raises(IntegrityError) as failure:
        RunLog.open(finished_run, clock=clock)
    assert failure.value.exit_code == 9 and str(log) in failure.value.message
    with pytest.raises(IntegrityError):
        list(read(finished_run))
    assert log.read_bytes() == before


def test_an_event_of_a_newer_program_stops_with_the_advice_to_upgrade(finished_run, clock):
    from agentforge.store.log.records import write_line

    folded = fold(finished_run)
    line = write_line("Teleported", {}, seq=folded.length + 1, at="2026", fence=1, prev=folded.head)
    with (finished_run / LOG).open("ab") as file:
        file.write(line)
    with pytest.raises(IntegrityError, match="upgrade"):
        RunLog.open(finished_run, clock=clock)


def test_a_second_process_is_told_who_drives_the_run(finished_run, clock):
    script = (
        "import sys; from pathlib import Path; from agentforge.store.log.run_log import RunLog; from agentforge.store.log.records import utc_now\n"
        "from agentforge.errors import LockedError\n"
        "try: RunLog.open(Path(sys.argv[1]), clock=utc_now)\n"
        "except LockedError as exc: print(exc); sys.exit(exc.exit_code)\n"
    )
    with RunLog.open(finished_run, clock=clock):
        done = subprocess.run([sys.executable, "-c", script, finished_run], capture_output=True, text=True, check=False)
    assert done.returncode == 8
    assert f"process {os.getpid()} on" in done.stdout and f"kill {os.getpid()}" in done.stdout
    assert subprocess.run([sys.executable, "-c", script, finished_run], check=False).returncode == 0


def test_a_process_that_was_killed_leaves_the_run_free_and_its_records_whole(task_folder, run_parts, clock):
    script = (
        "import os, sys, signal; from pathlib import Path; from agentforge.store.log.run_log import RunLog; from agentforge.store.log.records import utc_now\n"
        "from agentforge.events import kinds\n"
        "log = RunLog.create(Path(sys.argv[1]), kinds.RunStarted(kind='task', run_id='t', request='r', repo='/r', base_commit='c'), clock=utc_now)\n"
        "log.append(kinds.StageStarted(stage='intake', attempt=1))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, task_folder], check=False)
    assert done.returncode == -signal.SIGKILL
    with RunLog.open(task_folder, clock=clock) as log:
        assert log.length == 2 and log.state.progress.stage == "intake"
        log.append(kinds.RunResumed(pid=1))
    assert [record.fence for record in read(task_folder)] == [1, 1, 2]


@pytest.mark.parametrize("log_ends_with", [b'{"at":"half', b"", b'{"at":"of the record that was to name it'])
def test_a_half_line_that_a_killed_writer_moved_aside_and_did_not_record_is_recorded(
    finished_run, clock, log_ends_with
):
    """It died before it cut the log, before it recorded that, or while it did."""
    aside = finished_run / "quarantine" / f"record-{fold(finished_run).length + 1:06d}-fence-0007"
    aside.parent.mkdir()
    aside.write_bytes(b'{"at":"half')
    with (finished_run / LOG).open("ab") as log:
        log.write(log_ends_with)
    with RunLog.open(finished_run, clock=clock):
        pass
    (moved,) = (finished_run / "quarantine").iterdir()
    (event,) = [record.event for record in read(finished_run) if isinstance(record.event, kinds.LogRecovered)]
    named = (event.quarantine, event.quarantined_bytes, event.digest)
    assert named == (f"quarantine/{moved.name}", moved.stat().st_size, digest_bytes(moved.read_bytes()))
    assert moved.read_bytes() == (b"" if log_ends_with == b'{"at":"half' else b'{"at":"half') + log_ends_with


@pytest.mark.parametrize("place", ["blobs/{0}", "", "artifacts/phases/analyze", "escalations", "quarantine"])
def test_whoever_goes_on_removes_what_a_killed_writer_left_half_written(finished_run, clock, place):
    (blob, *_) = (finished_run / "blobs").glob("??/*")
    half = finished_run / place.format(blob.parent.name) / ".views.json.5139.140485193042816.tmp"
    half.parent.mkdir(parents=True, exist_ok=True)
    half.write_bytes(b"hal")
    with RunLog.open(finished_run, clock=clock):
        pass
    assert not half.exists()


def test_a_writer_that_lost_its_lease_cannot_add_a_record(finished_run, clock):
    old = RunLog.open(finished_run, clock=clock)
    (finished_run / "lease").unlink()
    with RunLog.open(finished_run, clock=clock) as new:
        with pytest.raises(LockedError, match="lost the lease"):
            old.append(kinds.RunInterrupted(reason="late"))
        new.append(kinds.RunResumed(pid=2))
    old.close()
    fences = [record.fence for record in read(finished_run)]
    assert fences[-1] > fences[-2] and fold(finished_run).torn_bytes == 0


def test_a_log_that_something_else_wrote_to_is_not_written_to_any_more(finished_run, clock):
    with RunLog.open(finished_run, clock=clock) as log:
        with (finished_run / LOG).open("ab") as file:
            file.write(b"{}\n")
        with pytest.raises(IntegrityError, match="something else wrote"):
            log.append(kinds.RunResumed(pid=2))
        with pytest.raises(StorageError, match="closed"):
            log.append(kinds.RunResumed(pid=2))


@pytest.fixture
def file_size_limit():
    """Set a limit on the size of files: a real short write, then a real error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_takes_half_a_record_loses_nothing(task_folder, run_parts, clock, file_size_limit):
    with RunLog.create(task_folder, run_parts.first(), clock=clock) as log:
        log.append(kinds.StageStarted(stage="intake", attempt=1))
        state, data = log.state, (task_folder / LOG).read_bytes()
        file_size_limit(len(data) + 100)
        with pytest.raises(StorageError, match="cannot be written") as failure:
            log.append(kinds.StageSkipped(stage="red", reason="x" * 4000))
        assert failure.value.exit_code == 7 and "free some space" in failure.value.hint
        file_size_limit(resource.RLIM_INFINITY)
        assert (task_folder / LOG).read_bytes() == data and log.state == state
        with pytest.raises(StorageError, match="closed"):
            log.append(kinds.RunInterrupted(reason="never on the same descriptor"))
    with RunLog.open(task_folder, clock=clock) as log:
        assert log.state == state
        log.append(kinds.RunResumed(pid=1))
    assert fold(task_folder).length == 3


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 256 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not permitted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_a_clear_error_and_the_run_goes_on_when_there_is_space(small_disk, run_parts, clock):
    folder = small_disk / "run"
    ballast = small_disk / "ballast"
    with RunLog.create(folder, run_parts.first(), clock=clock) as log:
        free = os.statvfs(small_disk)
        ballast.write_bytes(b"x" * (free.f_bavail * free.f_frsize))
        acknowledged = log.length
        with pytest.raises(StorageError, match="No space left"):
            for _ in range(100):
                log.append(kinds.StageSkipped(stage="red", reason="x" * 2000))
                acknowledged = log.length
        assert log.length >= acknowledged
        length, state = log.length, log.state
        ballast.unlink()
    with RunLog.open(folder, clock=clock) as log:
        assert (log.length, log.state) == (length, state)
        log.append(kinds.RunResumed(pid=1))
    assert fold(folder).torn_bytes == 0


def interrupted_append(log: RunLog, event: kinds.Event, *, at_line: int) -> bool:
    """Append with a Ctrl-C that arrives when the `at_line`-th line of the log or the projector is about to run."""
    left = at_line

    def trace(frame, what, _argument):
        nonlocal left
        if not frame.f_code.co_filename.endswith(
            ("store/log/run_log.py", "store/views/projector.py", "store/views/actions_file.py")
        ):
            return None
        if what == "line":
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        log.append(event)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # a file that Ctrl-C left to the collector
def test_an_append_that_ctrl_c_interrupts_anywhere_is_settled_by_the_next_one(tmp_path, run_parts):
    interrupts, lengths = 0, set()
    for at_line in range(1, 1000):
        folder = tmp_path / str(at_line)
        with RunLog.create(folder, run_parts.first(), clock=run_parts.clock()) as log:
            done = not interrupted_append(log, kinds.RunResumed(pid=7), at_line=at_line)
            log.append(kinds.RunInterrupted(reason="Ctrl-C"))
            lengths.add(log.length)
            assert load_state(folder) == log.state
        live = views_of(folder)
        rebuild(folder)
        assert views_of(folder) == live
        shutil.rmtree(folder)
        if done:
            break
        interrupts += 1
    assert 50 < interrupts < 900
    assert lengths == {2, 3}
